import Configuration
import Control
import Foundation
import HealthModel
import Inspection
import Logging
import Protocol
import Terminal
import TestSupport
import Testing

@Suite struct RepairListTests {
    /// If nothing passes a filter, that doesn't mean that there is nothing.
    @Test(arguments: [
        (0, "Nothing is quarantined.\n"), (1, "None of these; 1 other is there without the filter.\n"),
        (3, "None of these; 3 others are there without the filter.\n"),
    ])
    func anEmptyListSaysWhetherThereAreOthers(_ others: Int, _ text: String) {
        #expect(QuarantineReport(entries: []).table(for: Terminal(isTerminal: false)) { others } == text)
    }

    /// A person who looks for the reason learns where to find it.
    @Test func aRefusalWithoutAReasonLeadsToTheServersLog() {
        #expect(DeadLetterReport.remark(on: ["no date", "the backend refuses it (400)"]).contains("its log says why"))
        #expect(DeadLetterReport.remark(on: ["no date"]).isEmpty && DeadLetterReport.remark(on: []).isEmpty)
    }

    /// A retry of one letter says nothing about the others, and doesn't offer to give them up.
    @Test func onlyWhatWasSentAgainCanBeRefusedAgain() throws {
        func failure(_ sent: [Int64], _ left: [Int64], isAll: Bool = false, of destination: String? = nil) -> Failure? {
            DeadLetterReport.refusedAgain(sent, left: left, isAll: isAll, by: "the backend", destination: destination)
        }
        #expect(failure([1], [2]) == nil && failure([], [1]) == nil && failure([1, 2], [], isAll: true) == nil)
        let some = try #require(failure([1, 2, 5], [5, 2, 7]))
        #expect(some.message == "the backend still refuses 2")
        #expect(some.hint?.contains("'healthbus dead-letters drop 2 5'") == true)
        let all = failure([1, 2], [1, 2], isAll: true, of: "files")?.hint
        #expect(
            all == "'healthbus dead-letters list --destination files' says why; "
                + "'healthbus dead-letters drop --all --destination files' gives them up")
        let many = failure(Array(1...100), Array(1...200))
        #expect(many?.message == "the backend still refuses 100" && many?.hint?.contains("drop 1") == false)
    }

    /// A letter is shown with its element as the store has it now.
    @Test func aLetterSaysWhetherItsElementHasChanged() {
        func text(stored: Int64?) -> String {
            DeadLetterReport.text([
                "id": 3, "version": 6, "element": "2025-03-16", "stored": Value(stored),
                "body": stored == nil ? .null : ["days": [["date": "2025-03-16"]]],
            ])
        }
        #expect(text(stored: 6).hasSuffix("\n}\n") && !text(stored: 6).contains("was refused"))
        #expect(text(stored: 9).contains("Version 6 was refused. It has changed since: version 9, below, is sent"))
        #expect(text(stored: 9).contains("\"days\""))
        #expect(text(stored: nil).contains("nothing left to send: 'healthbus dead-letters retry 3' forgets it."))
    }

    @Test func aSampleTypeStandsForItsMetric() throws {
        let root = URL(fileURLWithPath: #filePath).appendingPathComponent("../../../../plugins").standardizedFileURL
            .path
        let stack = try StackConfiguration(path: nil, catalog: PluginCatalog(folder: root, programs: "/nowhere"))
        for (text, metric) in [
            ("BodyMass", "body"), ("HKQuantityTypeIdentifierBodyMass", "body"), ("StepCount", "steps"),
            ("body", "body"), ("daily", "daily"), ("another", "another"),
        ] { #expect(stack.metric(of: text) == metric) }
    }
}
