import Control
import HealthModel
import Protocol
import TestSupport
import Testing

/// How `healthbus doubles` describes what is stored twice, and what it made of it.
@Suite struct DoublesReportTests {
    private static let steps = "HKQuantityTypeIdentifierStepCount"
    private static let rate = "HKQuantityTypeIdentifierHeartRate"
    private static let me = DoublesReport.User(
        user: "me", renamed: [.init(from: "Old", to: "New", samples: 300)], replaced: [steps: 2, rate: 1],
        merged: [steps: 300])

    @Test func theListNamesSourcesAndTypes() {
        let other = DoublesReport.User(user: "anna", replaced: [Self.rate: 7])
        let text = DoublesReport(dryRun: true, users: [Self.me, .init(user: "bob"), other]).text(.list)
        #expect(
            text == """
                310 samples are stored twice.
                me:
                  'Old' and 'New' are one source: 300 samples are stored twice
                  HeartRate: 1 condensed into others
                  StepCount: 300 under two names, 2 condensed into others
                anna:
                  HeartRate: 7 condensed into others
                'healthbus doubles repair' counts them once.
                """)
    }

    @Test func aRepairSaysWhatFollowsAndHowToUndoIt() {
        let text = DoublesReport(users: [Self.me]).text(.repair)
        #expect(text.hasPrefix("303 samples that were stored twice count once now.\n"))
        #expect(text.hasSuffix("\nDestinations get the changes. 'healthbus doubles undo' takes it back."))
        #expect(text.contains("'Old' and 'New' are one source: 300 samples were stored twice\n"))
        // A trial promises nothing.
        let trial = DoublesReport(dryRun: true, users: [Self.me])
        #expect(trial.text(.repair) == trial.text(.list))
    }

    @Test func anUndoSaysWhatIsAsBefore() {
        let text = DoublesReport(users: [Self.me]).text(.undo)
        #expect(text.hasPrefix("Took the last repair back: 303 samples count as before it.\n"))
        #expect(text.contains("'Old' and 'New' are two sources again: 300 samples\n"))
        #expect(text.hasSuffix("\nDestinations get the changes."))
    }

    @Test func whereThereIsNothingThatIsSaid() {
        for users in [[], [DoublesReport.User(user: "me")]] {
            let report = DoublesReport(users: users)
            #expect(report.isEmpty && report.samples == 0)
            #expect(report.text(.list) == "Nothing is stored twice." && report.text(.repair) == report.text(.list))
            #expect(report.text(.undo) == "Nothing had to be taken back.")
        }
    }

    /// Names come from apps, and reach a terminal.
    @Test func namesCannotControlTheTerminal() {
        let user = DoublesReport.User(user: "me", renamed: [.init(from: "a\u{1B}[2J", to: "b\nc", samples: 1)])
        let text = DoublesReport(users: [user]).text(.list)
        #expect(text.contains("  'a [2J' and 'b c' are one source: 1 sample is stored twice\n"))
    }

    @Test func programsGetNumbersByType() {
        let report = DoublesReport(dryRun: true, users: [Self.me])
        let value: Value = [
            "dryRun": true,
            "users": [
                [
                    "user": "me", "renamed": [["from": "Old", "to": "New", "samples": 300]],
                    "replaced": ["HKQuantityTypeIdentifierStepCount": 2, "HKQuantityTypeIdentifierHeartRate": 1],
                    "merged": ["HKQuantityTypeIdentifierStepCount": 300],
                ]
            ],
        ]
        #expect(Value(report) == value && value.read(DoublesReport.self) == report)
        #expect(Value(DoublesReport(users: [])) == ["users": []])
    }

    @Test func aReportFitsIntoAHeartbeat() {
        let pairs = (0..<100).map { ImportReport.Renamed(from: "a\($0)", to: "b\($0)", samples: 1) }
        #expect(DoublesReport.User(user: "me", renamed: pairs).renamed.count == DoublesReport.User.listed)
    }
}
