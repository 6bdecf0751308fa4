import ExecDialogue
import Testing

/// A program's last words are reported in the way that helps its author: the error, the file, the line.
@Suite struct ExecTraceTests {
    @Test(arguments: [
        // Python: the innermost line of the author's own code takes precedence over those of libraries.
        (
            """
            Traceback (most recent call last):
              File "/p/handler.py", line 40, in <module>
                figures = compute(day)
                          ^^^^^^^^^^^^
              File "/p/lib/rules.py", line 7, in compute
                return json.loads("x")
              File "/usr/lib/python3.11/json/__init__.py", line 346, in loads
                return _default_decoder.decode(s)
            json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)
            """, "json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0) (lib/rules.py, line 7)"
        ),
        // If one exception follows another, the last one ended the program.
        (
            """
            Traceback (most recent call last):
              File "/p/handler.py", line 3, in a
            KeyError: 'x'

            During handling of the above exception, another exception occurred:

            Traceback (most recent call last):
              File "/p/handler.py", line 9, in <module>
                raise ValueError
            ValueError
            """, "ValueError (handler.py, line 9)"
        ),
        (
            "  File \"/p/handler.py\", line 2\n    def f(:\n          ^\nSyntaxError: invalid syntax",
            "SyntaxError: invalid syntax (handler.py, line 2)"
        ),
        (
            """
            /p/handler.js:14
              const counts = day.ours.map(() => 0);
                                      ^

            TypeError: Cannot read properties of undefined (reading 'map')
                at compute (/p/handler.js:14:27)
                at Interface.<anonymous> (/p/handler.js:50:31)
                at node:events:517:28

            Node.js v18.19.0
            """, "TypeError: Cannot read properties of undefined (reading 'map') (handler.js, line 14)"
        ),
        (
            """
            /p/handler.js:3
            const = 1;
                  ^

            SyntaxError: Unexpected token '='
                at internalCompileFunction (node:internal/vm:73:18)
                at node:internal/main/run_main_module:23:47
            """, "SyntaxError: Unexpected token '=' (handler.js, line 3)"
        ),
        (
            "handler/handler.swift:12: Fatal error: Index out of range",
            "Fatal error: Index out of range (handler.swift, line 12)"
        ),
        ("warming up\ngave up, sorry\n\n", "gave up, sorry"),
    ])
    func theErrorHasItsPlace(_ said: String, _ summary: String) {
        let lines = said.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        #expect(ExecTrace.summary(of: lines, folder: "/p") == summary)
    }

    @Test func whoSaysNothingHasNone() {
        #expect(ExecTrace.summary(of: [], folder: "/p") == nil)
        #expect(ExecTrace.summary(of: ["", "  "], folder: "/p") == nil)
    }
}
