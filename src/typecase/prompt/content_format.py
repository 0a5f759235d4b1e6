"""Does a chat template want message contents as strings or as lists of parts?

Contract: ``detect_content_format(tree)`` reads a parsed template as vLLM does for
``--chat-template-content-format auto``: ``openai`` if some ``for`` loop runs over a message's content, else ``string``.
What counts, in vLLM's terms:

- *messages*: the variable of that name; a variable or namespace attribute that is set to one of these (also filtered,
  tested or sliced), anywhere in the template, whatever the scope;
- *message*: the target of a loop over messages;
- *content*: ``message.content`` or ``message['content']`` (also filtered, tested or sliced); inside a macro, a
  parameter that some call of the macro gives such a content; outside of macros, any variable called ``content``.

A loop over messages, or the first loop over content, that unpacks its items makes vLLM's detection fail, and a failed
detection means ``string``.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Literal

from jinja2 import nodes

__all__ = ["ContentFormat", "detect_content_format"]

ContentFormat = Literal["string", "openai"]


def detect_content_format(tree: nodes.Template) -> ContentFormat:
    loops = list(tree.find_all(nodes.For))
    messages = _aliases_of_messages(tree)
    message_loops = [loop for loop in loops if _dotted(_bare(loop.iter)) in messages]
    if not all(isinstance(loop.target, nodes.Name) for loop in message_loops):
        return "string"
    message_names = {loop.target.name for loop in message_loops if isinstance(loop.target, nodes.Name)}
    macro_parameters = _content_parameters(tree, message_names)

    for loop in loops:
        source = loop.iter
        if _is_content(source, message_names) or (
            isinstance(source, nodes.Name) and source.name in macro_parameters.get(id(loop), ("content",))
        ):
            return "openai" if isinstance(loop.target, nodes.Name) else "string"
    return "string"


def _bare(node: nodes.Node | None) -> nodes.Node | None:
    """The expression without filters, tests and slices around it."""
    while True:
        if isinstance(node, nodes.Filter | nodes.Test) or (
            isinstance(node, nodes.Getitem) and isinstance(node.arg, nodes.Slice)
        ):
            node = node.node
        else:
            return node


def _dotted(node: nodes.Node | None) -> str | None:
    """``a`` or ``a.b`` for a name that is read, with its attributes; None for any other expression."""
    parts: list[str] = []
    while isinstance(node, nodes.Getattr):
        parts.append(node.attr)
        node = node.node
    if isinstance(node, nodes.Name) and node.ctx == "load":
        return ".".join((node.name, *reversed(parts)))
    return None


def _is_content(node: nodes.Node, message_names: set[str]) -> bool:
    node = _bare(node) or node
    match node:
        case nodes.Getitem(node=owner, arg=nodes.Const(value="content")):
            return _dotted(owner) in message_names
        case nodes.Getattr(node=owner, attr="content"):
            return _dotted(owner) in message_names
    return False


def _assignments(tree: nodes.Template) -> Iterator[tuple[str, str]]:
    """(name, the name or dotted name it is set to) for each assignment of one variable to another."""
    for assignment in tree.find_all(nodes.Assign):
        target, value = assignment.target, assignment.node
        source = _dotted(_bare(value))
        match target:
            case nodes.Name(name=name):
                if source is not None:
                    yield name, source
                if (
                    isinstance(value, nodes.Call)
                    and isinstance(value.node, nodes.Name)
                    and value.node.name == "namespace"
                ):
                    for keyword in value.kwargs:
                        inner = _dotted(_bare(keyword.value))
                        if inner is not None:
                            yield f"{name}.{keyword.key}", inner
            case nodes.NSRef(name=name, attr=attribute):
                if source is not None:
                    yield f"{name}.{attribute}", source


def _aliases_of_messages(tree: nodes.Template) -> set[str]:
    named_after = defaultdict(list)
    for name, source in _assignments(tree):
        named_after[source].append(name)
    found = {"messages"}
    pending = ["messages"]
    while pending:
        for name in named_after[pending.pop()]:
            if name not in found:
                found.add(name)
                pending.append(name)
    return found


def _content_parameters(tree: nodes.Template, message_names: set[str]) -> dict[int, set[str]]:
    """For each loop inside a macro: the macro's parameters that receive a message's content."""
    calls = defaultdict(list)
    for call in tree.find_all(nodes.Call):
        if isinstance(call.node, nodes.Name):
            calls[call.node.name].append(call)

    found: dict[int, set[str]] = {}
    for macro in tree.find_all(nodes.Macro):
        names = [argument.name for argument in macro.args]
        received = set()
        for call in calls[macro.name]:
            received |= {
                name for name, value in zip(names, call.args, strict=False) if _is_content(value, message_names)
            }
            received |= {
                keyword.key
                for keyword in call.kwargs
                if keyword.key in names and _is_content(keyword.value, message_names)
            }
        for loop in macro.find_all(nodes.For):
            if received or id(loop) not in found:
                found[id(loop)] = received
    return found
