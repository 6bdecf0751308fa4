import Configuration
import Foundation
import HealthModel
import Inspection
import Logging
import Monitoring
import Protocol
import Terminal
import TestSupport
import Testing

@Suite struct TapTests {
    private let steps = "HKQuantityTypeIdentifierStepCount"

    private func message(_ topic: String, from: String = "observer", _ body: Value = .null) -> Message {
        Message(topic: topic, header: .init(from: from, at: 0), body: body)
    }

    @Test func theTypeFilterTakesWhatNamesTheTypeAndItsHandler() {
        let filter = TapFilter(type: steps, handler: "steps")
        #expect(filter.wants(message("observed.\(steps)", ["type": .string(steps)])))
        #expect(filter.wants(message("sync.steps")) && filter.wants(message("figures.steps")))
        #expect(filter.wants(message("page.uploader", ["samples": ["types": [.string(steps)]]])))
        #expect(filter.wants(message("pull.observer", ["types": ["include": [.string(steps)]]])))
        #expect(!filter.wants(message("observed.\(steps)2", ["type": .string(steps + "2")])))
        #expect(!filter.wants(message("sync.steps2")) && !filter.wants(message("heartbeat.steps")))
        #expect(!filter.wants(message("page.uploader", ["samples": ["types": ["HKOther"]]])))
        // An instance syncs under its own name, and publishes under its plugin's.
        let walking = TapFilter(type: steps, handler: "walking")
        #expect(walking.wants(message("sync.walking")) && walking.wants(message("figures.walking")))
        #expect(!walking.wants(message("figures.steps")) && !walking.wants(message("sync.steps")))
    }

    @Test func prefixesUsersAndSendersAreHeldTogether() {
        let filter = TapFilter(prefixes: ["page.", "figures."], user: "ann", from: "observer")
        #expect(filter.wants(message("page.x", ["users": ["bob", "ann"]])))
        #expect(filter.wants(message("page.x", ["rows": [["user": "ann"]]])))
        #expect(!filter.wants(message("page.x", ["users": ["bob"]])))
        #expect(!filter.wants(message("page.x", from: "steps", ["users": ["ann"]])))
        #expect(!filter.wants(message("pull.x", ["user": "ann"])))
    }

    @Test func heartbeatsAreHiddenUnlessTheyAreAskedFor() {
        var filter = TapFilter()
        #expect(filter.wants(message("heartbeat.steps")))
        filter.hidesHeartbeats = true
        #expect(!filter.wants(message("heartbeat.steps")) && filter.wants(message("sync.steps")))
        filter.prefixes = ["heartbeat.s"]
        #expect(filter.wants(message("heartbeat.steps")) && !filter.wants(message("heartbeat.hub")))
    }

    @Test func aLineHasDatesForMomentsAndTheBeginningOfLongLists() {
        let line = Message(
            topic: "page.x", header: .init(from: "observer", at: 1_743_315_300_250_000),
            body: [
                "lastSynced": 1_743_315_300_000_000, "day": 20177, "days": 12, "sequence": 1_795_407_682_304,
                "rows": [["day": -1]], "ids": .column(.int64(Array(1...20))),
                "start": .column(.int64([1_743_315_300_000_000])),
            ]
        ).line(width: .max)
        #expect(line.hasPrefix("2025-03-30T06:15:00.25Z  page.x  observer  {"), "\(line)")
        for part in [
            #""lastSynced":"2025-03-30T06:15:00Z""#, #""day":"2025-03-30""#, #""days":12"#,
            #""sequence":1795407682304"#, #""day":"1969-12-31""#, #""ids":[1,2,3,"and 17 more"]"#,
            #""start":["2025-03-30T06:15:00Z"]"#,
        ] { #expect(line.contains(part), "\(part) in \(line)") }
        #expect(
            DisplayWidth.of(message("a.b", ["text": .string(String(repeating: "x", count: 200))]).line(width: 60)) == 60
        )
    }

    /// A push can be followed by HealthKit's UUID before its samples are stored.
    @Test func uuidsAreShownAsSuch() {
        let uuid: [UInt8] = Array(1...16)
        let pushed = message(
            "ingest.observer",
            ["records": ["uuid": .bytes(uuid + [UInt8](repeating: 0, count: 16))], "deleted": .bytes(uuid)])
        let line = Redaction.redact(pushed).line(width: .max)
        #expect(line.contains(#""uuid":["01020304-0506-0708-090a-0b0c0d0e0f10",null]"#), "\(line)")
        #expect(line.contains(#""deleted":["01020304-0506-0708-090a-0b0c0d0e0f10"]"#), "\(line)")
    }

    @Test func aHintIsShownToWhomItNamesWithAllItsFigures() {
        let names = (0..<12).map { Value.string("figure\($0)") }
        let hint = message(
            "figures.steps", ["head": [:], "changed": [["user": "ann", "day": 20177, "names": .array(names)]]])
        let line = Redaction.redact(hint).line(width: .max)
        #expect(line.contains("2025-03-30") && line.contains("figure11"), "\(line)")
        #expect(TapFilter(user: "ann").wants(hint) && !TapFilter(user: "bob").wants(hint))
        let long = message("figures.steps", ["changed": [["user": "ann", "names": []]], "more": 2])
        #expect(TapFilter(user: "bob").wants(long))
    }

    /// People's own types are only in the store, which a tap may not be able to ask.
    @Test func aPersonsOwnTypeIsTakenAndAMistypedOneIsNot() throws {
        #expect(try TypeName.identifier("stepcount", asking: { nil }) == steps)
        #expect(try TypeName.identifier("coffee", asking: { ["coffee"] }) == "coffee")
        #expect(try TypeName.identifier("coffee", asking: { nil }) == "coffee")
        let error = #expect(throws: Failure.self) {
            try TypeName.identifier("HKQuantityTypeIdentifierStpCount", asking: { ["coffee"] })
        }
        #expect(error?.code == .usage && error?.hint?.contains("StepCount") == true)
    }

    @Test func prefixesThatNothingBeginsWithAreNamed() throws {
        let root = URL(fileURLWithPath: #filePath).appendingPathComponent("../../../../plugins").standardizedFileURL
            .path
        let stack = try StackConfiguration(path: nil, catalog: PluginCatalog(folder: root, programs: "/nowhere"))
        func unknown(_ prefixes: String..., isReplay: Bool = false) -> [Failure] {
            stack.unknown(prefixes: prefixes, isReplay: isReplay)
        }
        #expect(
            unknown(
                "figures.", "fig", "observed.HKQuantityTypeIdentifierStepCount", "heartbeat.hub", "control.supervisor",
                "daily.summary", "page.client-", "alert.", ""
            ).isEmpty)
        #expect(unknown("figures.stepz").first?.hint == "did you mean 'figures.steps'?")
        #expect(unknown("steps").first?.hint?.contains("'figures.steps'") == true)
        let nothing = try #require(unknown("paces").first)
        #expect(nothing.code == .usage && nothing.message.contains("'paces'"))
        #expect(nothing.hint?.contains("figures. heartbeat.") == true)
        #expect(unknown("samples.").count == 1 && unknown("samples.HK", "daily.", isReplay: true).isEmpty)
        #expect(unknown("heartbeat.", isReplay: true).count == 1)
    }

    @Test func valuesAreHiddenAndWhatALaterReleaseAddsToo() {
        let page = message(
            "page.uploader",
            [
                "id": 1, "head": ["sequence": 3], "through": 3, "characteristics": ["me": ["dateOfBirth": "1986"]],
                "novelty": 61.5,
                "samples": ["types": [.string(steps)], "seq": [3], "value": [61.5], "metadata": ["bytes": "61.5"]],
                "rows": [["seq": 3, "key": "k", "user": "me", "body": ["figures": ["steps": 61.5]]]],
                "summaries": [["figures": ["steps": 61.5]]],
            ])
        let redacted = Redaction.redact(page)
        let text = redacted.body.json()
        #expect(!text.contains("61.5") && !text.contains("1986"))
        #expect(redacted.body["through"] == 3 && redacted.body["samples"]["seq"] == page.body["samples"]["seq"])
        #expect(redacted.body["rows"].array?.first?["key"] == "k")
        #expect(redacted.body["rows"].array?.first?["body"] == Redaction.hidden)
        let pushed = Redaction.redact(
            message(
                "ingest.observer",
                [
                    "id": "a", "part": 0, "user": "me", "device": "phone", "novelty": 61.5,
                    "records": ["types": [.string(steps)], "item": [1], "value": [61.5], "payload": ["bytes": "61.5"]],
                    "quarantined": [["item": 2, "reason": "61.5 is too much", "raw": "61.5"]],
                ]))
        #expect(!pushed.body.json().contains("61.5") && pushed.body["records"]["item"] == [1])
        let answer = Redaction.redact(
            message(
                "ingested.ingest", ["id": "a", "outcomes": [4], "reasons": [["row": 0, "text": "61.5 is too much"]]]))
        #expect(!answer.body.json().contains("61.5") && answer.body["outcomes"] == [4])
        let hint = message("figures.steps", ["head": ["sequence": 3]])
        #expect(Redaction.redact(hint) == hint)
        let watch = Redaction.redact(
            message("control.places", ["action": "watch", "conditions": ["Home": ["latitude": 61.5]]]))
        #expect(watch.body == ["action": "watch", "conditions": Redaction.hidden])
        let entered = Redaction.redact(
            message("control.observer", ["action": "own", "own": ["action": "addEvent", "body": ["value": 61.5]]]))
        #expect(entered.body == ["action": "own", "own": Redaction.hidden])
        let part = Redaction.redact(message("ingest.observer", ["id": "a", "own": ["body": ["value": 61.5]]]))
        #expect(part.body == ["id": "a", "own": Redaction.hidden])
    }

    private func facts(
        observer: SequenceNumber, handler: SequenceNumber, consolidator: SequenceNumber,
        uploader: [String: SequenceNumber]
    ) -> SampleTrace.Facts {
        func beat(_ name: String, _ frontier: [String: SequenceNumber]) -> Heartbeat {
            Heartbeat(instance: name, plugin: name, phase: .ready, pid: 1, frontier: frontier)
        }
        var facts = SampleTrace.Facts(
            place: SampleWhereabouts(
                id: "", uuid: nil, user: "me", type: steps, sequence: 100, born: 100, start: 0, end: 0, state: .alive,
                stored: nil, changed: 7), observer: "observer")
        (facts.debouncer, facts.handler, facts.consolidator, facts.uploaders) = (
            "debouncer", "steps", "consolidator", ["uploader"]
        )
        facts.days = ["2025-03-30"]
        facts.figures = [.init(day: "2025-03-30", sequence: 5, at: 8)]
        facts.summaries = [.init(day: "2025-03-30", sequence: 6, at: 9)]
        facts.beats = [
            "observer": beat("observer", [:]), "debouncer": beat("debouncer", ["observer": observer]),
            "steps": beat("steps", ["observer": handler]),
            "consolidator": beat("consolidator", ["observer": consolidator]), "uploader": beat("uploader", uploader),
        ]
        return facts
    }

    @Test func aSamplesWayGoesByFrontiers() {
        let through = SampleTrace(
            facts(observer: 100, handler: 100, consolidator: 100, uploader: ["observer": 100, "consolidator": 6]))
        #expect(through.isThrough)
        #expect(
            through.steps.map(\.name) == [
                "stored", "fired", "released", "computed", "summarized", "delivered", "delivered",
            ])
        #expect(through.steps.map(\.at) == [7, nil, nil, 8, 9, nil, nil])

        // Delivering an earlier summary that lacks the sample doesn't count as delivering the sample.
        let early = SampleTrace(
            facts(observer: 100, handler: 99, consolidator: 99, uploader: ["observer": 100, "consolidator": 6]))
        #expect(!early.isThrough)
        #expect(early.steps.map(\.isDone) == [true, true, true, false, false, true, false])
        #expect(early.steps[3].at == nil)
    }

    @Test func ofAStoppedStackNothingIsClaimed() {
        var stopped = facts(observer: 0, handler: 0, consolidator: 0, uploader: [:])
        stopped.beats = [:]
        #expect(SampleTrace(stopped).steps.dropFirst().allSatisfy { $0.isDone == nil })
    }
}

@Suite struct TopicPatternTests {
    @Test(
        arguments: [
            ("figures.*", "figures.steps", "figures.steps"), ("sync.steps", "sync.steps", "sync.steps"),
            ("sync.*", "s*", "sync.*"), ("sync.steps", "sync.steps2", nil), ("a.*", "b.*", nil),
        ] as [(String, String, String?)])
    func overlapIsTheNarrowerOne(_ a: String, _ b: String, _ common: String?) {
        #expect(TopicPattern(a).overlap(TopicPattern(b))?.text == common)
        #expect(TopicPattern(b).overlap(TopicPattern(a))?.text == common)
    }
}
