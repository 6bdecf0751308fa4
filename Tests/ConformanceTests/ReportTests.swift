import Conformance
import HealthModel
import Terminal
import Testing

@Suite struct ReportTests {
    private let report = ConformanceReport(
        plugin: "test", file: "/x/plugin.json",
        results: [
            .init(name: "hello", about: "answers", outcome: .passed, seconds: 0.04),
            .init(
                name: "pieces", about: "takes",
                outcome: .failed(.init("it ended", sent: "{\"day\"", received: "", said: "Error", hint: "read lines")),
                seconds: 1.26),
            .init(name: "ready", about: "says", outcome: .skipped("its lines aren't right yet"), seconds: 0),
        ])

    @Test func theTableNamesWhatFailedWithItsLinesAndAHint() {
        #expect(
            report.table(for: Terminal(isTerminal: false)) == """
                Case    Result   Seconds  Asks
                hello   passed       0.0  answers
                pieces  FAILED       1.3  takes
                ready   skipped      0.0  says

                pieces failed: it ended
                  sent     {"day"
                  said     Error
                  hint     read lines

                ready was skipped: its lines aren't right yet

                test: 1 of 3 cases passed

                """)
    }

    /// A mistake that breaks many cases is reported once.
    @Test func eachCauseIsReportedOnce() {
        func failed(_ name: String, _ why: String, cause: String?) -> ConformanceResult {
            var fault = ConformanceFault(why, hint: "correct it")
            fault.cause = cause
            return .init(name: name, about: "asks", outcome: .failed(fault), seconds: 0)
        }
        let text = ConformanceReport(
            plugin: "test", file: "/x/plugin.json",
            results: [
                failed("pieces", "sent in pieces: it ended", cause: "it ended"),
                failed("odd-values", "it ended", cause: "it ended"), failed("empty-day", "it gives 'n'", cause: nil),
                .init(name: "reordered", about: "asks", outcome: .skipped("no"), seconds: 0),
                .init(name: "crash", about: "asks", outcome: .skipped("no"), seconds: 0),
            ]
        ).table(for: Terminal(isTerminal: false))
        #expect(
            text.contains(
                "\npieces, odd-values failed: it ended\n  hint     correct it\n\nempty-day failed: it gives 'n'\n"))
        #expect(text.contains("\nreordered, crash were skipped: no\n"), "\(text)")
    }

    @Test func theJSONHasEachCase() throws {
        let value = try Value(json: report.json.utf8)
        #expect(value["passed"] == 1 && value["failed"] == 1 && value["skipped"] == 1)
        let cases = try #require(value["cases"].array)
        #expect(
            cases[1] == [
                "case": "pieces", "about": "takes", "result": "failed", "seconds": 1.26, "why": "it ended",
                "sent": "{\"day\"", "said": "Error", "hint": "read lines",
            ])
        #expect(cases[2]["why"] == "its lines aren't right yet")
    }

    @Test func everyCaseHasANameOfItsOwn() {
        let names = ConformanceCase.allCases.map(\.rawValue)
        #expect(Set(names).count == names.count)
        for name in names { #expect(name.allSatisfy { $0.isLowercase || $0 == "-" }, "\(name)") }
    }
}
