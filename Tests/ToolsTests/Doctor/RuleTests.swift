import Changelog
import Configuration
import Doctor
import Foundation
import HealthModel
import Inspection
import Protocol
import TestSupport
import Testing

/// Each of the doctor's rules, asked alone.
@Suite struct RuleTests {
    private static let now = Instant(seconds: 1_790_000_000)
    private let stack: StackConfiguration

    init() throws {
        let catalog = try PluginCatalog(
            folder: Checkout.root.appending(path: "plugins").path, programs: "/nowhere")
        let folder = try TemporaryFolder()
        let file = folder.path + "/stack.json"
        try #"{"instances": {"files": {"plugin": "files"}}}"#.write(toFile: file, atomically: true, encoding: .utf8)
        stack = try StackConfiguration(path: file, catalog: catalog)
    }

    private func heard(_ name: String, _ details: [String: Value] = [:]) -> (beat: Heartbeat, age: Double) {
        var beat = Heartbeat(
            instance: name, plugin: name, phase: .ready, pid: 7,
            head: StoreHead(store: "s", generation: "g", sequence: 100),
            frontier: name == "observer" ? [:] : ["observer": 100],
            lastCommit: Self.now - .seconds(3600), configuration: stack.instance(name)?.fingerprint)
        beat.say(details)
        return (beat, 0.2)
    }

    private var well: Examination {
        var seen = Examination(stack, state: "/s", now: Self.now, beats: [:])
        for name in stack.instances.map(\.name) + ["supervisor"] { seen.beats[name] = heard(name) }
        seen.held = Set(seen.beats.keys)
        seen.freeBytes = 50_000_000_000
        return seen
    }

    private func having(_ change: (inout Examination) -> Void) -> Examination {
        var seen = well
        change(&seen)
        return seen
    }

    /// Stacks that have every problem between them.
    private var ill: [Examination] {
        let some = Finding(.warning, "somebody", "something", remedy: "do this")
        let proof = ["at": Value(Self.now - .seconds(400_000)), "compared": 3, "wrong": 0] as [String: Value]
        let backend: Value = [
            "acceptance": "trust", "isCompared": true, "compared": .null, "result": "redelivered", "missing": 7,
            "check": .null, "why": "no connection",
        ]
        return [
            having { ($0.held, $0.beats, $0.stores) = ([], [:], [some]) },
            having { ($0.held, $0.beats, $0.isFile) = ([], [:], true) },
            having { $0.beats = [:] },
            having { seen in
                (seen.mistakes, seen.doors, seen.refusedDevices) = ([some], [some], [some])
                (seen.freeBytes, seen.walBytes, seen.gone) = (
                    5_000_000, ["observer": 300_000_000], ["steps": "/s/steps"]
                )
                (seen.load, seen.battery, seen.quarantined, seen.conflicts) = (9, 4, 5, 2)
                seen.formerZones = [FormerZone(user: "anna", former: "Asia/Tokyo", now: "Etc/UTC")]
                seen.failedImports = [
                    ImportRow(
                        id: "8c1f", path: "/x", user: "me", state: .failed, report: nil, problem: "empty", request: nil)
                ]
                seen.alerts = [("debouncer", "degraded", "x", "Syncs fail.", "do this")]
                (seen.beats["supervisor"], seen.beats["sleep"]) = (nil, nil)
                seen.beats["steps"] = heard("steps", ["failedDays": 1])
                seen.beats["steps"]?.beat.frontier["observer"] = 50
                seen.beats["body"]?.beat.phase = .running
                seen.beats["body"]?.beat.busySince = Self.now - .seconds(120)
                seen.beats["energy"] = heard("energy", ["pending": 700_000])
                seen.earlier = seen.beats
                seen.beats["energy"]?.beat.lastCommit = Self.now
                seen.beats["hydration"]?.beat.lastCommit = Self.now + .seconds(900)
                seen.beats["uploader"] = heard(
                    "uploader",
                    ["backend": backend, "blocked": "no connection", "deadLetters": 2, "conflicts": 2]
                        .merging(["proof": .object(proof.merging(["beyond": 9, "replaced": 1]) { $1 })]) { $1 })
                seen.beats["consolidator"] = heard(
                    "consolidator",
                    ["openDays": 3, "missing": ["sleep"], "collisions": [["figure": "a", "handler": "steps"]]])
                seen.beats["debouncer"] = heard(
                    "debouncer",
                    [
                        "refusals": ["observer/days": "no such query"],
                        "messages": ["sent": 1, "received": 1, "dropped": 0, "malformed": 1, "foreign": 1],
                    ])
                seen.beats["observer"] = heard(
                    "observer",
                    [
                        "doubles": 2, "refused": ["debouncer": "add a line"],
                        "inbox": ["path": "/in", "problem": "make it readable"],
                    ])
                var reported = IngestDetails.Following(address: "https://there")
                reported.problem = .init(
                    what: "it refuses the token", remedy: "make a token", isRefusal: true, since: Self.now,
                    nextTry: Self.now)
                seen.beats["ingest"] = heard("ingest", ["following": Value(reported)])
            },
            having { seen in
                let processes: [Value] = [
                    ["name": "steps", "state": "ready", "pid": 8, "restarts": 3],
                    ["name": "other", "state": "ready", "pid": 9, "restarts": 0],
                ]
                seen.beats["supervisor"] = heard("supervisor", ["processes": .array(processes)])
                seen.beats["steps"]?.beat.configuration = "another"
                seen.beats["energy"] = heard("energy", ["pending": 800])
                seen.beats["energy"]?.beat.lastCommit = Self.now
                seen.earlier = seen.beats
                seen.beats["uploader"] = heard(
                    "uploader",
                    ["paused": true, "proof": .object(proof.merging(["unable": "it lists nothing"]) { $1 })])
                var files = heard("uploader", ["backend": backend, "blocked": "no path"])
                files.beat.say(["path": ["satisfied": false, "interface": .null]])
                (files.beat.instance, files.beat.configuration) = ("files", stack.instance("files")?.fingerprint)
                seen.beats["files"] = files
            },
            having { seen in
                seen.beats["steps"]?.beat.frontier["observer"] = 50
                seen.beats["observer"] = heard("observer", ["device": ["locked": true]])
            },
            having { $0.now = 1_000_000 },
        ]
    }

    @Test func eachHasANameOfItsOwn() {
        #expect(Set(Rule.all.map(\.name)).count == Rule.all.count)
    }

    @Test(arguments: Rule.all.map(\.name)) func eachFindsItsProblemAlone(_ name: String) {
        let rules = Rule.all.filter { $0.name == name }
        // A reason why something may be slow is only given where something is.
        let first = ["load", "battery"].contains(name) ? Rule.all.filter { $0.name == "mistake" } : []
        #expect(
            ill.contains {
                Diagnosis.findings($0, by: first + rules).list.count > ($0.mistakes.isEmpty ? 0 : first.count)
            })
        #expect(Diagnosis.findings(well, by: rules).list.isEmpty)
    }

    /// What all find together is what each finds alone, with consequences below their causes.
    @Test func togetherTheyFindWhatEachFindsAlone() {
        for seen in ill {
            let all = Diagnosis.findings(seen).list
            let whats = all.flatMap { ["\($0.subject): \($0.what)"] + $0.consequences }.filter {
                !$0.hasPrefix("the machine")
            }
            let each = Rule.all.flatMap { Diagnosis.findings(seen, by: [$0]).list }.map { "\($0.subject): \($0.what)" }
            #expect(whats.sorted() == each.sorted())
        }
    }
}
