"""Templates that would run for ever or fill the memory, by kind. ``text`` is a long text, ``messages`` two messages."""

from __future__ import annotations

DOUBLE = "{% set ns = namespace(x=SEED) %}{% for i in range(60) %}{% set ns.x = STEP %}{% endfor %}END"


def doubling(seed: str, step: str, end: str = "{{ ns.x|length }}") -> str:
    return DOUBLE.replace("SEED", seed).replace("STEP", step).replace("END", end)


NEST = "{{ x|length }}"


def nesting(step: str, end: str) -> str:
    """Forty values, each made of the one before twice."""
    return "{% set x = ['a'] %}" + f"{{% set x = {step} %}}" * 40 + end


RUNAWAYS = {
    # loops
    "nested loops": "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}",
    "nested loops that print": "{% for a in range(99999) %}{% for b in range(99999) %}x{% endfor %}{% endfor %}",
    "loop over a filtered loop": "{% for a in range(99999) %}{% for b in range(99999) if false %}{% endfor %}"
    "{% endfor %}",
    "loop with long body": "{% for a in range(99999) %}" + "{{ text }}" * 2000 + "{% endfor %}",
    "loops in select": "{% for a in range(99999) %}{% for b in range(99999)|select('gt', 99999) %}{% endfor %}"
    "{% endfor %}",
    "list of a selection": "{% for a in range(99999) %}{% set x = range(99999)|reject('lt', 99999)|list %}{% endfor %}",
    "loop length of a generator": "{% for a in range(999) %}{% for b in range(99999)|map('string') %}{{ loop.length }}"
    "{% break %}"
    "{% endfor %}{% endfor %}",
    "recursive loop": "{% for a in [range(9)] recursive %}{{ loop([range(9)] * 9) }}{% endfor %}",
    "straight line": "{{ text }}" * 400,
    "straight line of lists": "{% set x = text.split('a') %}" * 200,
    "straight line of copies": "".join(f"{{% set x{i} = text.strip('z') %}}" for i in range(200)),
    "straight line of slices": "".join(f"{{% set x{i} = text[1:] %}}" for i in range(200)),
    "straight line of sums": "".join(f"{{% set x{i} = text + 'b' %}}" for i in range(200)),
    "long sum": "{% set x = " + " + ".join(["text"] * 150) + " %}{% set y = " + " + ".join(["x"] * 150) + " %}",
    "long concatenation": "{% set x = " + " ~ ".join(["text"] * 999) + " %}",
    "short pieces": "{% set t = text[:500] %}{% for a in range(99999) %}{% for b in range(99999) %}{{ t ~ b }}"
    "{% endfor %}"
    "{% endfor %}",
    "short pieces in a set block": "{% set t = text[:500] %}{% set x %}{% for a in range(99999) %}"
    "{% for b in range(99999) %}"
    "{{ t + 'b' }}{% endfor %}{% endfor %}{% endset %}",
    "short pieces in a macro": "{% set t = text[:500] %}{% macro m() %}{% for a in range(99999) %}{{ t ~ a }}"
    "{{ t ~ a }}"
    "{% endfor %}{% endmacro %}{{ m() }}",
    "short pieces in a recursive loop": "{% set t = text[:500] %}{% for a in range(99999) recursive %}{{ t ~ a }}"
    "{% endfor %}",
    "short pieces in a block": "{% set t = text[:500] %}{% set x %}{% block b scoped %}{% for a in range(99999) %}"
    "{{ t ~ a }}"
    "{% endfor %}{% endblock %}{% endset %}",
    "short pieces in a list": "{% set t = text[:500] %}{% set x = range(99999)|map('replace', '0', t)|list %}",
    "short pieces in lists": "{% set t = text[:500] %}{% set ns = namespace(x=[]) %}{% for a in range(99999) %}"
    "{% set ns.x = [ns.x, t ~ a] %}{% endfor %}",
    "short pieces in namespaces": "{% set t = text[:500] %}{% set ns = namespace(x=0) %}{% for a in range(99999) %}"
    "{% set ns = namespace(x=ns, y=t ~ a) %}{% endfor %}",
    # macros and blocks
    "macro that calls itself": "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
    "macro that calls itself twice": "{% macro m(n) %}{% if n %}{{ m(n - 1) }}{{ m(n - 1) }}{% endif %}{% endmacro %}"
    "{{ m(60) }}",
    "caller that calls itself": "{% macro m() %}{{ caller() }}{{ caller() }}{% endmacro %}"
    "{% macro n(k) %}{% if k %}{% call m() %}{{ n(k - 1) }}{% endcall %}{% endif %}{% endmacro %}{{ n(60) }}",
    "block that calls itself": "{% block b %}{{ self.b() }}{{ self.b() }}{% endblock %}",
    "block that prints": "{% block b %}" + "{{ text }}" * 999 + "{% endblock %}" + "{{ self.b() }}" * 999,
    "varargs of varargs": "{% macro m(n) %}{% if n %}{{ m(n - 1, varargs, varargs) }}{% else %}{{ varargs }}{% endif %}"
    "{% endmacro %}{{ m(40) }}",
    "kwargs of kwargs": "{% macro m(n) %}{% if n %}{{ m(n - 1, a=kwargs, b=kwargs) }}{% else %}{{ kwargs }}{% endif %}"
    "{% endmacro %}{{ m(40) }}",
    # text that grows
    "repeated text": "{{ 'a' * 10**9 }}",
    "repeated text, other way": "{{ 10**9 * 'a' }}",
    "repeated twice": "{{ ('a' * 10**4) * 10**5 }}",
    "repeated markup": "{{ ('a'|safe) * 10**9 }}",
    "repeated bytes": "{{ ('a'.encode() * 10**9)|length }}",
    "doubled by ~": doubling("'a'", "ns.x ~ ns.x"),
    "doubled by +": doubling("'a'", "ns.x + ns.x"),
    "doubled by join": doubling("'a'", "[ns.x, ns.x]|join"),
    "doubled by join method": doubling("'a'", "''.join([ns.x, ns.x])"),
    "doubled by format": doubling("'a'", "'%s%s' % (ns.x, ns.x)"),
    "doubled by format filter": doubling("'a'", "'%s%s'|format(ns.x, ns.x)"),
    "doubled by str.format": doubling("'a'", "'{0}{0}'.format(ns.x)"),
    "doubled by format_map": doubling("'a'", "'{a}{a}'.format_map({'a': ns.x})"),
    "doubled by replace": doubling("'a'", "ns.x|replace('a', 'aa')"),
    "doubled by replace method": doubling("'a'", "ns.x.replace('', ns.x)"),
    "doubled by tojson": doubling("'\"'", "ns.x|tojson"),
    "doubled by set block": "{% set x = 'a' %}" + "{% set x %}{{ x }}{{ x }}{% endset %}" * 60,
    "doubled by filter block": "{% set x = 'a' %}"
    + "{% set x %}{% filter upper %}{{ x }}{{ x }}{% endfilter %}{% endset %}" * 60,
    "doubled by macro": "{% macro m(x) %}{{ x }}{{ x }}{% endmacro %}{% set x = 'a' %}" + "{% set x = m(x) %}" * 60,
    "doubled in autoescape": "{% autoescape true %}{% set x = 'a' %}"
    + "{% set x = x ~ x %}" * 60
    + "{% endautoescape %}",
    "doubled by loop.cycle": doubling("'a'", "[ns.x]|map('replace', 'a', 'aa')|first"),
    "doubled by translate": doubling("'a'", "ns.x.translate({97: 'aa'})"),
    "doubled by title of repr": doubling("'\\\\'", "[ns.x]|string"),
    # padding, widths
    "center": "{{ 'a'|center(10**9) }}",
    "center, constant": "{{ 'a'|center(1000000000) }}",
    "center method": "{{ 'a'.center(10**9) }}",
    "ljust": "{{ 'a'.ljust(10**9, 'b') }}",
    "rjust": "{{ 'a'.rjust(1000000000) }}",
    "zfill": "{{ '1'.zfill(10**9) }}",
    "expandtabs": "{{ ('\\t' * 1000).expandtabs(10**7) }}",
    "indent": "{{ '\\n\\n'|indent(10**9, true, true) }}",
    "indent many lines": "{{ ('a\\n' * 10**5)|indent(10**5) }}",
    "indent with text": "{{ ('a\\n' * 10**5)|indent('x' * 10**5) }}",
    "wordwrap": "{{ ('a ' * 10**5)|wordwrap(1, wrapstring='x' * 10**5) }}",
    "wordwrap of one word": "{{ ('a' * 10**6)|wordwrap(1)|length }}",
    "percent width": "{{ '%1000000000s' % 'a' }}",
    "percent star": "{{ '%*s' % (10**9, 'a') }}",
    "percent precision": "{{ '%.1000000000f' % 1.5 }}",
    "percent key": "{{ '%(a)1000000000s' % {'a': 1} }}",
    "percent in bytes": "{{ ('%1000000000d'.encode() % 1)|length }}",
    "percent, many keys": "{{ ('%(a)s' * 10**5) % {'a': text} }}",
    "format width": "{{ '{:1000000000}'.format('a') }}",
    "format width, other digits": "{{ '{:١٠٠٠٠٠٠٠٠٠}'.format('a') }}",
    "format nested width": "{{ '{:{}}'.format('a', 10**9) }}",
    "format precision": "{{ '{:.1000000000f}'.format(1.5) }}",
    "format map width": "{{ '{a:1000000000}'.format_map({'a': 1}) }}",
    "format many fields": "{{ ('{0}' * 10**5).format('a' * 1000) }}",
    "tojson indent": "{{ [1]|tojson(indent=10**9) }}",
    "tojson indent text": "{{ ([1] * 10**4)|tojson(indent='x' * 10**6) }}",
    "tojson separators": "{{ ([1] * 10**5)|tojson(separators=('x' * 10**6, ':')) }}",
    "join separator": "{{ range(99999)|join('x' * 10**6) }}",
    "join separator method": "{{ ('x' * 10**6).join('a' * 10**5) }}",
    "join of a generator": "{{ ('x' * 10**6).join(range(99999)|map('string')) }}",
    "replace all": "{{ ('a' * 10**6)|replace('a', 'b' * 10**6) }}",
    "replace nothing": "{{ ('a' * 10**6).replace('', 'b' * 10**6) }}",
    "translate": "{{ ('a' * 10**6).translate({97: 'b' * 10**6}) }}",
    "to_bytes": "{{ (1).to_bytes(10**9, 'big')|length }}",
    "lipsum": "{{ lipsum(n=10**9) }}",
    "lipsum words": "{{ lipsum(n=1, min=10**9, max=10**9 + 1) }}",
    "xmlattr": "{{ {'a': text * 1000}|xmlattr }}",
    "urlize": "{{ ('a.b ' * 10**5)|urlize(rel='x' * 10**5) }}",
    "strftime": "{{ strftime_now('%A' * 10**7) }}",
    # lists
    "repeated list": "{{ ([0] * 10**9)|length }}",
    "repeated tuple": "{{ ((0,) * 10**9)|length }}",
    "doubled list": doubling("[0]", "ns.x + ns.x"),
    "doubled list by sum": doubling("[0]", "[ns.x, ns.x]|sum(start=[])"),
    "list of messages, doubled": doubling("[messages]", "ns.x + ns.x", "{{ ns.x|tojson }}"),
    "list of a list of a list": nesting("[x, x]", "{{ x }}"),
    "tuple of a tuple": nesting("(x, x)", "{{ {x: 1} }}"),
    "dict of a dict": nesting("{'a': x, 'b': x}", "{{ x|tojson }}"),
    "dict() of a dict": nesting("dict(a=x, b=x)", "{{ x|tojson }}"),
    "fromkeys": nesting("dict.fromkeys('abcdefgh', x)", "{{ x|string }}"),
    "batch": nesting("[x, x]|batch(2)|list", "{{ x }}"),
    "batch fill": "{{ [1]|batch(10**9, 0)|list|length }}",
    "slice": "{{ [1]|slice(10**9)|list|length }}",
    "slice fill": nesting("[x]|slice(2, x)|list", "{{ x }}"),
    "mapped default": nesting("range(2)|map('default', x)|list + [x, x]", "{{ x }}"),
    "mapped attribute default": nesting("range(2)|map(attribute='a', default=x)|list", "{{ x }}"),
    "groupby": nesting("[{'a': x}, {'a': x}]|groupby('a')", "{{ x }}"),
    "cycler": "{% set c = cycler('a') %}" + "{% set c = cycler(c.items, c.items) %}" * 40 + "{{ c.items }}",
    "compared": nesting("[x, x]", "{% set y = x %}{{ x == [x[0], x[1]] }}"),
    "namespaces of namespaces": "{% set a0 = namespace(x='a') %}"
    + "".join(f"{{% set a{i + 1} = namespace(x=0) %}}" for i in range(40))
    + "".join(f"{{% set a{i + 1}.x = [a{i}, a{i}] %}}" for i in range(40))
    + "{{ a40 }}",
    "list in list in list": doubling("[]", "[ns.x]", "").replace("range(60)", "range(99999)") + "{{ ns.x }}",
    "tuple in tuple, hashed": doubling("()", "(ns.x,)", "").replace("range(60)", "range(99999)")
    + "{{ {ns.x: 1}|length }}",
    "filter on filter on filter": doubling("[]", "ns.x|map('upper')", "").replace("range(60)", "range(99999)")
    + "{{ ns.x|list }}",
    "split into letters": "{{ ('a ' * 10**7).split()|length }}",
    "letters": "{{ ('é' * 10**7)|list|length }}",
    "splitlines": "{{ ('\\n' * 10**7).splitlines()|length }}",
    "words": "{{ ('a ' * 10**7)|wordcount }}",
    "keys without end": "{% set ns = namespace(d={}) %}{% for i in range(99999) %}"
    "{% set ns.d = dict(ns.d, **{i|string: text}) %}"
    "{% endfor %}",
    # numbers
    "power of powers": "{{ 9**(9**9) }}",
    "power of powers, one by one": doubling("9", "ns.x ** 9", "{{ ns.x % 7 }}"),
    "squared": doubling("9", "ns.x * ns.x", "{{ ns.x % 7 }}"),
    "round": "{{ 5|round(-10**9) }}",
    "round up": "{{ 5|round(10**9, 'ceil') }}",
    "hex": "{{ ('f' * 10**7)|int(base=16) ** 100 }}",
    "from_bytes": "{{ (0).from_bytes(('f' * 10**6).encode(), 'big') ** 1000 % 7 }}",
    "division": "{{ (7 ** (10**6)) // (3 ** (10**6)) % 7 }}" * 20,
    "sum of numbers": "{{ ([10**4000] * 10**7)|sum }}",
    # slow, not large
    "strip": "{{ ('a' * 10**6).strip('b' * 10**6 ~ 'a') }}",
    "trim": "{{ ('a' * 10**6)|trim('b' * 10**6 ~ 'a') }}",
    "striptags": "{{ ('<!---->' * 10**6)|striptags }}",
    "sort": "{{ ([text * 10] * 10**5)|sort|length }}",
    "max": "{{ ([text * 10] * 10**5)|max|length }}",
    "unique": "{{ ([text * 10] * 10**5)|unique|list|length }}",
    "search": "{% set x = [text * 10] * 10**5 %}{{ (text * 10 ~ 'b') in x }}",
    "count": "{% set x = [text * 10] * 10**5 %}{{ x.count(text * 9 ~ text) }}",
    "punycode": "{{ ('é' * 10**6).encode('punycode')|length }}",
    "pprint": nesting("[x]", "{{ ([x] * 10**4)|pprint|length }}"),
    "long attribute": "{{ range(99999)|map(attribute='a.' * 10**6 ~ 'a')|list|length }}",
    "long attribute with a default": "{% set a = 'a.' * 10**5 ~ 'a' %}"
    "{{ range(99999)|map('string')|map(attribute=a, default='x')|list|length }}",
    "long attribute to sort by": "{{ range(99999)|map('string')|sort(attribute='0,' * 10**5 ~ '0')|length }}",
    "long attribute to join": "{{ range(99999)|map('string')|join(attribute='0.' * 10**5 ~ '0')|length }}",
    "negative numbers": "{% set x = -(16 ** (10**5)) %}" + "{% set y = x|abs %}{% set z = -x %}" * 99,
    "sums that are kept": "{% set b = range(999)|list %}{% for i in range(99999) %}{% set y = b + [i] %}{% endfor %}",
    "many searches": "{% for i in range(99999) %}{{ 'b' in text * 99 }}{% endfor %}",
    "many comparisons": "{% set a = text * 99 %}{% set b = text * 98 ~ text %}{% for i in range(99999) %}{{ a == b }}"
    "{% endfor %}",
}
