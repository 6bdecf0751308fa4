import Changelog
import Configuration
import Foundation
import HandlerKit
import HealthModel
import MessageBus
import Protocol
import SQLite
import StageKit
import Synchronization
import TestSupport
import Testing

private struct NotingHandler: DayHandler {
    let version = 1
    let note: @Sendable (DayInput) -> DayOutput

    func compute(_ input: DayInput) throws -> DayOutput { note(input) }
}

/// How much a page of spans or a slice may cost a handler, no matter which process sends it.
@Suite struct HandlerLimitTests {
    private static let day = LocalDay(year: 2025, month: 3, day: 26)
    private let zones: ZoneTimeline

    init() throws { zones = try ZoneTimeline(zone: "Europe/Berlin") }

    /// - Parameter folder: of a handler in another language; nil for one in Swift.
    private func rig(
        folder: String? = nil,
        _ note: @escaping @Sendable (DayInput) -> DayOutput = { _ in DayOutput(figures: ["n": 1]) }
    ) throws -> StageRig<HandlerStage> {
        var manifest = try Checkout.manifest("steps")
        if let folder {
            manifest.file = folder + "/plugin.json"
            manifest.exec = ExecCommand(words: ["steps"], folder: folder, file: manifest.file)
        }
        return try StageRig { [manifest] in
            HandlerStage(
                instance: "steps", manifest: manifest, configuration: [:], handler: NotingHandler(note: note),
                namedTypes: [], observer: "observer")
        }
    }

    private func touch(_ rig: StageRig<HandlerStage>, _ spans: [(Instant, Instant)], through: Int64 = 10) throws {
        try rig.hear("sync.steps", ["head": Value(head(through)), "released": .integer(through)])
        let pull = try #require(rig.pulls.first { $0.name == "spans" })
        let page: Value = [
            "users": ["me"], "user": .column(.int32(spans.map { _ in 0 })),
            "start": .column(.int64(spans.map(\.0.microseconds))),
            "end": .column(.int64(spans.map(\.1.microseconds))), "zones": ["me": zones.wireValue],
            "from": pull.query["after"] ?? 0, "through": .integer(through), "head": Value(head(through)),
        ]
        try rig.answer(pull, .pages([page]))
    }

    private func pending(_ rig: StageRig<HandlerStage>) throws -> Int64? { try rig.report().details["pending"]?.int }

    private func noon(_ day: LocalDay) -> Instant {
        (zones.ranges(of: day).first?.lowerBound ?? 0) + .seconds(12 * 3600)
    }

    @Test func noSpanMakesDaysDirtyThatNoSampleCanBeOf() throws {
        let rig = try rig()
        try touch(
            rig,
            [
                (.distantPast, .distantPast + .microseconds(5)), (.distantFuture - .microseconds(5), .distantFuture),
                (SampleTimes.goesOn, SampleTimes.goesOn + .microseconds(1)),
            ])
        #expect(try pending(rig) == 0)
        let other = try self.rig()
        try touch(other, [(.distantPast, .distantFuture)])
        // Days from 1900 to 2200, each only once.
        #expect(try (109_000...110_000).contains(#require(try pending(other))))
    }

    @Test func spansThatOverlapAreLookedAtOnce() throws {
        let rig = try rig()
        let day = Duration.seconds(86_400)
        let start = noon(Self.day)
        try touch(rig, (0..<2000).map { (start + .microseconds($0), start + day * 30) })
        #expect(try pending(rig) == 31)
    }

    /// An earlier release marked days up to the year 4001, and computed some of them.
    @Test func daysOfAnEarlierReleaseAreForgotten() throws {
        let rig = try rig { $0.samples.isEmpty ? DayOutput() : DayOutput(figures: ["n": 1]) }
        let far = LocalDay(year: 3999, month: 5, day: 1)
        try rig.store.transaction {
            for number in 0..<2000 {
                try rig.store.database.execute(
                    "INSERT INTO dirty VALUES ('me', \(far.number + number), 1, 5), ('me', \(-number - 40000), 1, 5)")
            }
            try rig.changelog.put(
                key: "figures/me/\(far)", topic: "figures.steps", user: "me", day: far.number,
                body: ["figures": ["steps": 4], "hourly": [:]])
        }
        try rig.restart()
        #expect(try pending(rig) == 0)
        try touch(rig, [(noon(Self.day), noon(Self.day) + .microseconds(1))])
        #expect(try pending(rig) == 1)
        for _ in 0..<20 {
            try rig.turn()
            guard let pull = rig.pulls.first(where: { $0.name == "slice" }) else { break }
            try rig.answer(pull, .pages([["samples": SamplePage().wireValue]]))
        }
        // The figures of the impossible day are gone.
        #expect(try rig.rows().values.allSatisfy { $0.body == nil } && pending(rig) == 0)
    }

    @Test func aDayThatHoldsTooMuchIsLeftOutAndHoldsUpNoOther() throws {
        let computed = Mutex<[LocalDay]>([])
        let rig = try rig(folder: "/my plugins/steps") { input in
            computed.withLock { $0.append(input.day) }
            return DayOutput(figures: ["n": 1])
        }
        try touch(rig, [Self.day, Self.day.adding(days: -1)].map { (noon($0), noon($0) + .microseconds(1)) })
        var page = SamplePage()
        page.types = ["HKQuantityTypeIdentifierStepCount"]
        page.origins = [Origin(sourceName: "Watch")]
        for row in 0..<50_000 {
            page.ids.append(SampleID(high: UInt64(row), low: 1))
            page.sequence.append(1)
            page.type.append(0)
            page.start.append(noon(Self.day).microseconds + Int64(row))
            page.end.append(noon(Self.day).microseconds + Int64(row))
            page.value.append(1)
            page.origin.append(0)
            page.flags.append([])
        }
        // A hostile day never ends.
        let full: Value = ["samples": page.wireValue, "continue": ["start": 1, "id": "x"]]
        for _ in 0..<40 {
            guard let pull = rig.pulls.first(where: { $0.name == "slice" }) else { break }
            let isHostile = (pull.query["to"]?.int ?? 0) > noon(Self.day).microseconds
            try rig.answer(pull, .pages([isHostile ? full : ["samples": SamplePage().wireValue]]))
        }
        #expect(computed.withLock { $0 } == [Self.day.adding(days: -1)])
        #expect(try pending(rig) == 0 && rig.report().details["failedDays"] == 1)
        let alert = try rig.rows()["alert/failed-days/"]?.body
        #expect(alert?["text"].string?.hasPrefix("\(Self.day)") == true)
        #expect(alert?["remedy"].string?.contains(#"swap steps --with "/my plugins/steps"'"#) == true)
    }
}
