"""Random Jinja templates as hypothesis strategies: valid syntax, any semantics."""

from __future__ import annotations

from hypothesis import strategies as st

VARIABLES = {
    "text": " Some <b>Text</b>\nof two lines\t",
    "empty": "",
    "number": 7,
    "real": 2.5,
    "yes": True,
    "nothing": None,
    "items": [3, 1, 2],
    "words": ["b", "A", "c a", "<i>"],
    "pair": ("k", "v"),
    "record": {"role": "user", "content": "hi", "items": [1], "name": None, "list": [{"a": "x", "b": 2}]},
    "messages": [
        {"role": "system", "content": "be"},
        {"role": "user", "content": [{"type": "text", "text": "t"}]},
        {"role": "assistant", "content": None, "tool_calls": [{"function": {"name": "f", "arguments": {"x": 1}}}]},
    ],
}


def _choice(alternatives: str) -> st.SearchStrategy[str]:
    return st.sampled_from(alternatives.split(" ; "))


_names = st.sampled_from([*VARIABLES, "m", "ns", "loop", "missing", "x"])
_strings = st.sampled_from(
    ["''", "'a'", "'b c'", "'<'", "'%s'", "'{}'", "'{0.role}|{0[role]:>5}'", "'\\n'", "' '", "'role'"]
)
_numbers = st.sampled_from(["0", "1", "2", "-1", "3", "1.5", "10"])
_attributes = _choice(
    "role ; content ; items ; keys ; values ; get ; append ; pop ; update ; copy ; format ; format_map ; "
    "__class__ ; __init__ ; _x ; mro ; upper ; split ; join ; strip ; index ; count ; real ; name ; a ; "
    "first ; last ; index0 ; length ; previtem ; nextitem ; cycle ; gi_frame ; x ; list"
)
_methods = _choice(
    "strip() ; upper() ; split() ; split(',') ; split('a', 1) ; lstrip('b') ; rstrip() ; title() ; "
    "items() ; keys() ; values() ; get('role') ; get('z', 1) ; startswith('a') ; endswith(('a', 'i')) ; "
    "join(words) ; join(items) ; replace('a', 'bb') ; replace('', '-') ; center(9) ; ljust(5, '.') ; "
    "zfill(4) ; find('o') ; format(1, 'z') ; format(record) ; format_map(record) ; splitlines() ; "
    "partition(' ') ; count('a') ; index(1) ; encode() ; append(1) ; copy() ; expandtabs(3) ; "
    "translate({97: 'XY'}) ; bit_length() ; removeprefix('b') ; casefold() ; isdigit() ; nope() ; "
    "cycle('p', 'q') ; changed(1) ; as_integer_ratio()"
)
_filters = _choice(
    "abs ; batch(2, 'f')|list ; capitalize ; center(9) ; default('d') ; default('d', true) ; first ; "
    "dictsort ; dictsort(by='value') ; escape ; filesizeformat ; float ; forceescape ; format(1) ; last ; "
    "groupby('role') ; groupby('a')|list ; indent ; indent(2, true) ; int ; int(base=16) ; items|list ; "
    "join ; join('-') ; join(', ', 'role') ; join(attribute='role') ; length ; list ; lower ; "
    "map('upper')|list ; map(attribute='role')|list ; map(attribute='a.b', default=1)|join ; max ; min ; "
    "pprint ; reject|list ; rejectattr('name')|list ; replace('a', 'o') ; replace('a', 'o', 1) ; reverse ; "
    "reverse|list ; round ; round(1, 'ceil') ; safe ; select('string')|list ; "
    "selectattr('role', 'equalto', 'user')|list ; slice(2)|list ; sort ; sort(reverse=true) ; "
    "sort(attribute='role') ; string ; striptags ; sum ; sum('b') ; sum(start=[]) ; title ; tojson ; "
    "tojson(indent=2) ; tojson(ensure_ascii=true) ; tojson(separators=(',', ':')) ; trim ; trim('b') ; "
    "truncate(4) ; truncate(6, true, '!') ; unique|list ; upper ; urlencode ; urlize ; wordcount ; "
    "wordwrap(4) ; xmlattr ; attr('role') ; attr('__class__') ; attr('upper') ; d ; e ; count ; "
    "map('nope')|list ; center ; trim(1, 2, 3) ; join(1, 2, 3, 4) ; tojson(nope=1) ; first|upper ; "
    "selectattr('a')|list"
)
_tests = _choice(
    "defined ; undefined ; none ; string ; mapping ; sequence ; iterable ; number ; integer ; boolean ; "
    "true ; odd ; even ; divisibleby(2) ; divisibleby 0 ; lower ; upper ; callable ; sameas none ; "
    "escaped ; eq 1 ; equalto('a') ; gt(1) ; lessthan 'b' ; in items ; in record ; ne none ; filter ; "
    "test ; float ; false"
)
_binary = st.sampled_from(
    ["+", "-", "*", "/", "//", "%", "**", "~", "==", "!=", "<", ">=", "in", "not in", "and", "or"]
)


def _extend(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.tuples(inner, _attributes).map(lambda p: f"{p[0]}.{p[1]}"),
        st.tuples(inner, _attributes).map(lambda p: f"{p[0]}['{p[1]}']"),
        st.tuples(inner, inner).map(lambda p: f"{p[0]}[{p[1]}]"),
        st.tuples(_names, st.sampled_from(["1:", ":-1", "::-1", "0:2", ":"])).map(lambda p: f"{p[0]}[{p[1]}]"),
        st.tuples(inner, _methods).map(lambda p: f"{p[0]}.{p[1]}"),
        st.tuples(inner, _filters).map(lambda p: f"({p[0]}|{p[1]})"),
        st.tuples(inner, st.sampled_from(["is", "is not"]), _tests).map(lambda p: f"({p[0]} {p[1]} {p[2]})"),
        st.tuples(inner, _binary, inner).map(lambda p: f"({p[0]} {p[1]} {p[2]})"),
        st.tuples(inner, _binary, inner, _binary, inner).map(" ".join).map("({})".format),
        st.tuples(inner, inner, inner).map(lambda p: f"({p[0]} if {p[1]} else {p[2]})"),
        st.tuples(inner, inner).map(lambda p: f"({p[0]} if {p[1]})"),
        st.lists(inner, max_size=3).map(lambda p: f"[{', '.join(p)}]"),
        st.lists(inner, min_size=1, max_size=3).map(lambda p: f"({', '.join(p)},)"),
        st.tuples(_strings, inner, inner).map(lambda p: f"{{{p[0]}: {p[1]}, 'k': {p[2]}}}"),
        st.tuples(inner, st.lists(inner, max_size=2)).map(lambda p: f"{p[0]}({', '.join(p[1])})"),
        st.tuples(st.sampled_from(["not", "-", "+"]), inner).map(lambda p: f"({p[0]} {p[1]})"),
        st.tuples(inner, inner).map(lambda p: f"dict(a={p[0]}, b={p[1]})"),
        inner.map(lambda p: f"range({p})"),
        inner.map(lambda p: f"macro({p}, z=1)"),
        inner.map(lambda p: f"raise_exception({p})"),
    )


# powers of powers take for ever in any Jinja: keep numbers small where they are raised
expressions = st.recursive(st.one_of(_names, _strings, _numbers), _extend, max_leaves=6).filter(
    lambda text: text.count("**") < 2 and not ("**" in text and "*" in text.replace("**", ""))
)

# what a macro prints may be the address of an object, which is never twice the same
_iterated = expressions.filter(lambda text: "macro(" not in text)

_targets = st.sampled_from(["x", "m", "ns.x", "x, m"])


def _blocks(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.tuples(inner, inner).map("".join),
        st.tuples(_iterated, inner).map(lambda p: f"{{% for m in {p[0]} %}}{p[1]}{{% endfor %}}"),
        st.tuples(expressions, expressions, inner).map(
            lambda p: f"{{% for m in {p[0]} if {p[1]} %}}{{{{ loop.index }}}}{p[2]}{{% else %}}none{{% endfor %}}"
        ),
        st.tuples(_iterated, inner).map(
            lambda p: (
                f"{{% for k, v in {p[0]} %}}{{{{ k }}}}{p[1]}"
                "{% if loop.last %}{% break %}{% endif %}{% endfor %}"
            )
        ),
        st.tuples(expressions, inner, inner).map(lambda p: f"{{% if {p[0]} %}}{p[1]}{{% else %}}{p[2]}{{% endif %}}"),
        inner.map(lambda p: f"{{% set x %}}{p}{{% endset %}}{{{{ x }}}}"),
        inner.map(lambda p: f"{{% filter upper %}}{p}{{% endfilter %}}"),
        inner.map(lambda p: f"{{% generation %}}{p}{{% endgeneration %}}"),
        inner.map(lambda p: f"{{% autoescape true %}}{p}{{% endautoescape %}}"),
        inner.map(lambda p: f"{{% call macro(1) %}}{p}{{% endcall %}}"),
        st.tuples(expressions, inner).map(lambda p: f"{{% with x = {p[0]} %}}{p[1]}{{% endwith %}}"),
        inner.map(lambda p: f"{{% block b %}}{p}{{% endblock %}}" if "block" not in p else p),
    )


_leaves = st.one_of(
    st.sampled_from(["text\n", " <x> ", "\n  "]),
    expressions.map("{{{{ {} }}}}".format),
    st.tuples(_targets, expressions).map(lambda p: f"{{% set {p[0]} = {p[1]} %}}"),
)

_HEAD = (
    "{% set ns = namespace(x=1, y='s') %}"
    "{% macro macro(a, z=2) %}[{{ a }}{{ z }}{{ varargs }}{% if caller %}{{ caller() }}{% endif %}]{% endmacro %}"
)

templates = st.recursive(_leaves, _blocks, max_leaves=5).map(lambda body: _HEAD + body)
