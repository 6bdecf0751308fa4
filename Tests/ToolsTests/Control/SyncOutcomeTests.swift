import BackgroundDelivery
import Configuration
import Control
import Foundation
import HealthModel
import Inspection
import Protocol
import Terminal
import TestSupport
import Testing

/// How `healthbus sync` interprets the uploaders' heartbeats, tested without a stack.
@Suite struct SyncOutcomeTests {
    private func beats(_ details: [String: Value]) -> Beats {
        let beat = Heartbeat(
            instance: "uploader", plugin: "uploader", phase: .ready, pid: 7, head: nil, frontier: ["observer": 9],
            lastCommit: 1)
        return ["uploader": (details.isEmpty ? beat : beat.saying(details), 0.1)]
    }

    private func uncompared(_ backend: Value) -> [SyncClient.Uncompared] {
        SyncClient.uncompared(["uploader"], beats(["backend": backend]), asked: ["a", "b"])
    }

    @Test func aBackendIsComparedOnceItAnsweredForAllThatWasDelivered() {
        #expect(uncompared(["isCompared": true, "check": "b", "why": .null]) == [])
        let waits = SyncClient.Uncompared(uploader: "uploader", why: nil)
        // In turn: something has been delivered since then; a different command asked for it; no command asked for it.
        #expect(uncompared(["isCompared": false, "check": "b"]) == [waits])
        #expect(uncompared(["isCompared": true, "check": "c"]) == [waits])
        #expect(uncompared(["isCompared": true, "check": .null]) == [waits])
        let hindered = uncompared(["isCompared": true, "check": "b", "why": "no connection"])
        #expect(hindered.map(\.why) == ["no connection"])
        #expect(hindered.map(\.text) == ["uploader: the destination can't be compared: no connection"])
        #expect(SyncClient.uncompared(["uploader", "other"], beats([:]), asked: []).map(\.uploader) == ["other"])
        // An uploader from an earlier release doesn't report this.
        #expect(SyncClient.uncompared(["uploader"], beats([:]), asked: []) == [])
    }

    @Test func whatWasRefusedIsCounted() {
        #expect(SyncClient.refused(["uploader"], beats([:])) == [])
        #expect(SyncClient.refused(["uploader"], beats(["deadLetters": 0])) == [])
        #expect(
            SyncClient.refused(["uploader", "other"], beats(["deadLetters": 1]))
                == ["the destination of 'uploader' has refused 1 element ('healthbus dead-letters list' says why)"])
        #expect(SyncClient.refused(["uploader"], beats(["deadLetters": 3])).first?.contains("3 elements") == true)
    }

    @Test func whatIsUnknownIsntMany() {
        func row(_ new: Int?, isMany: Bool = false) -> [Substring] {
            let metric = SyncClient.Metric(name: "steps", new: new, isMany: isMany, delivered: 5, pending: 6, why: nil)
            let outcome = SyncClient.Outcome(
                metrics: [metric], waiting: [], refused: [], off: [], alerts: 0, seconds: 1)
            let lines = outcome.text(for: Terminal(isTerminal: false)).split(separator: "\n")
            return lines.first { $0.hasPrefix("steps") }?.split(separator: " ") ?? []
        }
        #expect(row(4) == ["steps", "4", "5", "6"])
        #expect(row(nil, isMany: true) == ["steps", "many", "5", "6"])
        #expect(row(nil) == ["steps", "5", "6"])
    }

    @Test func trustIsReported() {
        func names(_ details: [String: Value]) -> [String] { TrustedDestinations(["uploader"], beats(details)).names }
        #expect(names(["backend": ["acceptance": "trust"]]) == ["uploader"])
        #expect(names(["backend": ["acceptance": "proven"]]).isEmpty && names([:]).isEmpty)
    }

    /// However many handlers wait for the same, the reason is given once.
    @Test func aReasonIsGivenOnce() {
        let why = "uploader: the backend answers 503"
        let outcome = SyncClient.Outcome(
            metrics: ["body", "sleep", "steps"].map { .init(name: $0, new: 1, delivered: 0, pending: 0, why: why) },
            waiting: [why], refused: [], off: [], alerts: 0, seconds: 2)
        let text = outcome.text(for: Terminal(isTerminal: false))
        #expect(text.components(separatedBy: "answers 503").count == 2 && text.contains("Not delivered: \(why).\n"))
        #expect(
            SyncClient.reported(["b": "no room", "a": "no room", "c": "stopped"]) == ["a, b: no room", "c: stopped"])
    }

    /// The phone is mentioned only if its system decides when to deliver, or if someone has set the state of the phone.
    @Test func thePhoneIsNamedOnlyWhereThereIsOne() throws {
        let catalog = try PluginCatalog(folder: Checkout.root.appending(path: "plugins").path, programs: "/nowhere")
        func isPhone(_ configuration: String?, _ device: DeviceState? = DeviceState()) throws -> Bool {
            let path = configuration.map { Checkout.root.appending(path: "configs/\($0).json").path }
            return PhoneRule.isPhone(try StackConfiguration(path: path, catalog: catalog), device)
        }
        #expect(try !isPhone(nil) && !isPhone(nil, nil) && !isPhone("battery-friendly"))
        #expect(try isPhone("apple-like") && isPhone("watch-like"))
        var locked = DeviceState()
        locked.isLocked = true
        #expect(try isPhone(nil, locked))
        func text(isPhone: Bool) -> String {
            SyncClient.Outcome(
                metrics: [], waiting: [], refused: [], off: [], alerts: 0, seconds: 2,
                isPhone: isPhone
            ).text(for: Terminal(isTerminal: false))
        }
        #expect(text(isPhone: true).hasSuffix("no command can make that happen sooner.\n"))
        #expect(!text(isPhone: false).contains("phone"))
    }

    @Test func aSharedFamilyIsTheHandlersOfAllOtherTypes() throws {
        let root = Checkout.root.appending(path: "plugins").path
        let stack = try StackConfiguration(path: nil, catalog: PluginCatalog(folder: root, programs: "/nowhere"))
        func family(_ name: String) throws -> String? { stack.deliveredFamily(of: try #require(stack.instance(name))) }
        #expect(try family("steps") == "steps" && family("generic") == "other" && family("hydration") == nil)
        let alone = stack.with(instances: stack.instances.filter { $0.name != "generic" })
        #expect(alone.deliveredFamily(of: try #require(alone.instance("hydration"))) == "other")
    }

    @Test func aDeliveryThatMayBeAnotherHandlersIsNotCounted() {
        let outcome = SyncClient.Outcome(
            metrics: [
                .init(name: "generic", new: 290, delivered: 290, pending: 0, why: nil),
                .init(name: "hydration", new: 0, delivered: nil, pending: 0, why: nil),
            ], waiting: [], refused: [], off: [], alerts: 0, seconds: 2)
        #expect(outcome.value["metrics"].array?.map { $0["delivered"] } == [290, .null])
        let lines = outcome.text(for: Terminal(isTerminal: false)).split(separator: "\n")
        let cells = lines.filter { $0.hasPrefix("generic") || $0.hasPrefix("hydration") }
            .map { $0.split(separator: " ") }
        #expect(cells == [["generic", "290", "290", "0"], ["hydration", "0", "0"]])
    }

    @Test func deliveryIsClaimedOnlyWhenNothingBlocks() {
        func outcome(_ waiting: [String], refused: [String] = [], trust: [String] = []) -> SyncClient.Outcome {
            SyncClient.Outcome(
                metrics: [], waiting: waiting, refused: refused, off: [], alerts: 0, seconds: 2,
                trust: TrustedDestinations(trust))
        }
        let terminal = Terminal(isTerminal: false)
        let well = outcome([])
        #expect(well.text(for: terminal).contains("Everything is delivered ("))
        #expect(!well.text(for: terminal).contains("on trust"))
        #expect(well.value["delivered"] == true && well.value["blocked"] == [])
        let refused = outcome([], refused: ["uploader: refused"])
        // Refused elements aren't delivered automatically.
        let letters = "once it can be accepted, 'healthbus dead-letters retry --all' sends the refused elements again"
        #expect(well.hint == nil && refused.hint == "nothing is lost; \(letters)")
        #expect(
            outcome(["steps: 3 days to compute"], refused: ["uploader: refused"]).hint
                == "nothing is lost; what waits continues automatically once the cause is fixed; \(letters)")
        #expect(
            outcome(["uploader: the backend answered 429; it asked to wait until 14:05:10"]).hint
                == "nothing is lost; what waits is sent automatically, so there is nothing to do")
        #expect(refused.text(for: terminal).contains("Not delivered: uploader: refused."))
        #expect(refused.value["delivered"] == false && refused.value["blocked"] == ["uploader: refused"])
        let trusted = outcome([], trust: ["fhir"])
        #expect(
            trusted.text(for: terminal).hasSuffix(
                "\nEverything is delivered (2 s), by 'fhir' on trust, without proof that the destination keeps it.\n"))
        #expect(trusted.value["onTrust"] == true && well.value["onTrust"] == false)
    }
}
