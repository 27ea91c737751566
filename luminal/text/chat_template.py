# SPDX-License-Identifier: MIT OR Apache-2.0
"""Renders a chat template: reads one JSON request on standard input, writes the text on standard
output. Run by chat_template.cpp, which carries this source in the program.

The environment is that of Hugging Face transformers, which chat templates are written for: Jinja in
its immutable sandbox, trim_blocks, lstrip_blocks, loop controls, the generation tag, raise_exception,
strftime_now and a tojson that does not escape HTML. A template is code from a model file, so it gets
the sandbox, and this process a limit on memory and time.

Exit codes: 0 rendered; 10 there is no jinja2; 11 the template is not valid; 12 the template refuses
the conversation or fails; 13 JSON of the caller is not valid; 14 this jinja2 has a known hole in its
sandbox. For all but 0 the reason is on standard error, one line.
"""

import json
import resource
import sys
from datetime import datetime, timezone

MEMORY_BYTES = 1 << 30


def finish(code, reason):
    line = " ".join(str(reason).split()) or "no reason given"
    sys.stderr.buffer.write(line.encode("utf-8", "surrogateescape"))
    sys.stderr.flush()
    sys.exit(code)


def limit_resources(seconds):
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
    try:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    except (ValueError, OSError):
        pass  # not all systems have it


def make_environment(jinja2, now):
    from jinja2 import ext, nodes, sandbox

    class Generation(ext.Extension):
        """{% generation %} marks the assistant's words for training; here its body is plain text."""

        tags = {"generation"}

        def parse(self, parser):
            line = next(parser.stream).lineno
            body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
            return nodes.Scope(body).set_lineno(line)

    class Namespace(jinja2.utils.Namespace):
        """A namespace with no way to the names inside Python."""

        def __init__(*arguments, **names):
            self, arguments = arguments[0], arguments[1:]
            values = dict(*arguments, **names)
            for name in values:
                Namespace.check_name(name)
            jinja2.utils.Namespace.__init__(self, values)

        def __setitem__(self, name, value):
            Namespace.check_name(name)
            jinja2.utils.Namespace.__setitem__(self, name, value)

        @staticmethod
        def check_name(name):
            if isinstance(name, str) and name.startswith("_"):
                raise jinja2.exceptions.SecurityError(f"a namespace may not have the name {name!r}")

    def raise_exception(message):
        raise jinja2.exceptions.TemplateError(message)

    def strftime_now(form):
        moment = datetime.now() if now is None else datetime.fromtimestamp(now, timezone.utc)
        return moment.strftime(form)

    def tojson(value, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
        return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators,
                          sort_keys=sort_keys)

    environment = sandbox.ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[Generation, ext.loopcontrols])
    environment.filters["tojson"] = tojson
    environment.globals["raise_exception"] = raise_exception
    environment.globals["strftime_now"] = strftime_now
    environment.globals["namespace"] = Namespace
    # Not the type itself, whose attributes lead into Python.
    environment.globals["dict"] = lambda *arguments, **names: dict(*arguments, **names)
    return environment


def sandbox_has_holes(environment):
    """CVE-2024-56326 and CVE-2025-27516: a reference to str.format gets out of the sandbox. Asked of
    the library, because distributions mend it without a new version number."""
    return "built-in" in environment.from_string("{{ [''.format, ''|attr('format')] }}").render()


def parse(what, text, kind, otherwise):
    if not text:
        return otherwise
    try:
        value = json.loads(text)
    except ValueError as problem:
        finish(13, f"{what}: not valid JSON: {problem}")
    if not isinstance(value, kind):
        finish(13, f"{what}: a JSON {'array' if kind is list else 'object'} is expected")
    return value


def variables_of(request):
    messages = []
    for number, message in enumerate(request["messages"]):
        fields = parse(f"fields of message {number}", message.pop("fields"), dict, {})
        messages.append({**message, **fields})
    return {
        "messages": messages,
        "tools": parse("tools", request["tools"], list, None),
        "documents": None,
        "add_generation_prompt": request["add_generation_prompt"],
        "bos_token": request["bos_token"],
        "eos_token": request["eos_token"],
        **parse("variables", request["variables"], dict, {}),
    }


def main():
    # Bytes that are not UTF-8 go through unchanged.
    request = json.loads(sys.stdin.buffer.read().decode("utf-8", "surrogateescape"))
    variables = variables_of(request)
    limit_resources(request["seconds"])
    try:
        import jinja2
    except ImportError as problem:
        finish(10, problem)
    environment = make_environment(jinja2, request["now"])
    if sandbox_has_holes(environment):
        finish(14, f"jinja2 {jinja2.__version__}")
    try:
        text = environment.from_string(request["template"]).render(variables)
        data = text.encode("utf-8", "surrogateescape")
    except jinja2.exceptions.TemplateSyntaxError as problem:
        finish(11, f"line {problem.lineno}: {problem.message}")
    except jinja2.exceptions.TemplateError as problem:
        finish(12, problem.message)
    except MemoryError:
        finish(12, f"it needs more than {MEMORY_BYTES >> 20} MiB of memory")
    except RecursionError:
        finish(12, "it calls itself without end")
    except Exception as problem:
        finish(12, f"{type(problem).__name__}: {problem}")
    sys.stdout.buffer.write(data)
    sys.stdout.flush()


main()
