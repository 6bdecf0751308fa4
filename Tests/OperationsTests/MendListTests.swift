import Configuration
import Foundation
import Inspection
import Protocol
import Terminal
import TestSupport
import Testing

@Suite struct MendListTests {
    /// If nothing passes a filter, that doesn't mean that there is nothing.
    @Test(arguments: [
        (0, "Nothing is quarantined.\n"), (1, "None of these; 1 other is there without the filter.\n"),
        (3, "None of these; 3 others are there without the filter.\n"),
    ])
    func anEmptyListSaysWhetherThereAreOthers(_ others: Int, _ text: String) {
        #expect(QuarantineReport(entries: []).table(for: Terminal(isTerminal: false)) { others } == text)
    }

    /// A person who looks for the reason is told where to find it.
    @Test func aRefusalWithoutAReasonLeadsToTheServersLog() {
        #expect(DeadLetterReport.remark(on: ["no date", "the backend refuses it (400)"]).contains("its log says why"))
        #expect(DeadLetterReport.remark(on: ["no date"]).isEmpty && DeadLetterReport.remark(on: []).isEmpty)
    }

    @Test func aSampleTypeStandsForItsMetric() throws {
        let root = URL(fileURLWithPath: #filePath).appendingPathComponent("../../../plugins").standardizedFileURL.path
        let stack = try StackConfiguration(path: nil, catalog: PluginCatalog(folder: root, programs: "/nowhere"))
        for (text, metric) in [
            ("BodyMass", "body"), ("HKQuantityTypeIdentifierBodyMass", "body"), ("StepCount", "steps"),
            ("body", "body"), ("daily", "daily"), ("another", "another"),
        ] { #expect(stack.metric(of: text) == metric) }
    }
}
