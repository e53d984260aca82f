"""The look of the report: one style sheet for light and dark, by what the reader's screen prefers."""

STYLE = """
:root { color-scheme: light dark; --paper: #ffffff; --ink: #1c2128; --faint: #59636e; --line: #d5dae0; --box: #f5f7f9;
 --good: #1a7f4b; --bad: #b3261e;
 --s0: #0b5cad; --s1: #b8500b; --s2: #0a7560; --s3: #8a3ba8; --s4: #756200; --s5: #55606b; --s6: #b02a5b; --s7: #30734a;
 --recovered: #1a7f4b; --attractor: #b3261e; --wrong: #c47600; --abstained: #8b959f; --malformed: #6e4fb0;
 --failed: #24292f; --on: #ffffff; --on-wrong: #000000; --on-abstained: #000000; }
@media (prefers-color-scheme: dark) { :root { --paper: #0f1419; --ink: #e3e8ee; --faint: #9aa5b1; --line: #313a44;
 --box: #182028; --good: #57d08b; --bad: #ff8a80;
 --s0: #6db5ff; --s1: #ffa366; --s2: #4fd1b5; --s3: #d69cf2; --s4: #d8c24a; --s5: #a9b4bf; --s6: #ff8fb3; --s7: #86d99f;
 --recovered: #3fae74; --attractor: #e5665c; --wrong: #e0a030; --abstained: #7d8893; --malformed: #a78be0;
 --failed: #d0d7de; --on: #000000; --on-wrong: #000000; --on-abstained: #000000; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 62rem; padding: 1.5rem 1rem 4rem; background: var(--paper); color: var(--ink);
 font: 16px/1.5 system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; }
h1 { font-size: 1.6rem; line-height: 1.25; margin: 0 0 .4rem; } h2 { font-size: 1.2rem; margin: 2.6rem 0 .3rem; }
h3 { font-size: 1rem; margin: 1.2rem 0 .2rem; } p { margin: .4rem 0; } a { color: var(--s0); }
.faint, small, figcaption { color: var(--faint); } .good { color: var(--good); } .bad { color: var(--bad); }
nav { margin: 1rem 0; font-size: .95rem; } nav a { margin-right: .9rem; white-space: nowrap; }
.cards { display: flex; flex-wrap: wrap; gap: .8rem; margin: 1rem 0; }
.card { flex: 1 1 16rem; border: 1px solid var(--line); border-radius: 8px; padding: .8rem 1rem;
 background: var(--box); }
.card b { display: block; font-size: 1.7rem; line-height: 1.2; }
.card h3 { margin: 0 0 .2rem; overflow-wrap: anywhere; }
figure { margin: .8rem 0; }
.panels { display: grid; grid-template-columns: repeat(auto-fit, minmax(22rem, 1fr)); gap: .6rem; }
svg.plot { width: 100%; height: auto; font: 12px system-ui, "DejaVu Sans", sans-serif; }
svg text { fill: var(--ink); } svg text.faint { fill: var(--faint); }
svg text.group { font-weight: 600; }
svg .grid { stroke: var(--line); stroke-width: 1; }
svg .ci { stroke-width: 1.4; opacity: .75; }
.legend { font-size: .85rem; margin: .1rem 0; } .legend span { display: inline-block; margin-right: 1rem; }
.legend svg { vertical-align: -2px; margin-right: .3rem; }
.swatch { display: inline-block; width: .8rem; height: .8rem; border-radius: 2px; margin-right: .3rem;
 vertical-align: -1px; }
.wide { overflow-x: auto; } table { border-collapse: collapse; font-size: .88rem; margin: .5rem 0; }
th, td { padding: .22rem .7rem .22rem 0; text-align: left; border-bottom: 1px solid var(--line); vertical-align: top; }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
td small { white-space: nowrap; } tr.own td.name { font-weight: 600; }
details { margin: .5rem 0; } summary { cursor: pointer; }
details.item { border: 1px solid var(--line); border-radius: 6px; padding: .4rem .8rem; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; background: var(--box); border: 1px solid var(--line);
 border-radius: 6px; padding: .5rem .7rem; margin: .3rem 0;
 font: 13px/1.45 ui-monospace, "DejaVu Sans Mono", monospace; }
.role { font-size: .8rem; color: var(--faint); margin: .5rem 0 0; } ul { padding-left: 1.2rem; }
"""
SERIES = "".join(
    f".s{number} polyline, .s{number} > path, .s{number} .ci {{ stroke: var(--s{number}); fill: none; }}\n"
    f".s{number} .mark {{ fill: var(--s{number}); stroke: var(--paper); stroke-width: 1; }}\n"
    for number in range(8)
)
OUTCOMES = "".join(
    f".o-{name} rect {{ fill: var(--{name}); }} .o-{name} text {{ fill: var(--on{on}); }} "
    f".swatch.o-{name} {{ background: var(--{name}); }}\n"
    for name, on in (
        ("recovered", ""), ("attractor", ""), ("wrong", "-wrong"), ("abstained", "-abstained"), ("malformed", ""),
        ("failed", ""),
    )
)  # fmt: skip
