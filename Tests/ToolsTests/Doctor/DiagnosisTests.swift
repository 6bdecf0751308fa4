import Changelog
import Configuration
import Doctor
import Foundation
import HealthModel
import Inspection
import Logging
import Protocol
import Terminal
import TestSupport
import Testing

@Suite struct DiagnosisTests {
    private static let now = Instant(seconds: 1_790_000_000)
    private let stack: StackConfiguration

    init() throws {
        let catalog = try PluginCatalog(
            folder: Checkout.root.appending(path: "plugins").path, programs: "/nowhere")
        stack = try StackConfiguration(path: nil, catalog: catalog)
    }

    private func heard(_ name: String, _ change: (inout Heartbeat) -> Void = { _ in }) -> (beat: Heartbeat, age: Double)
    {
        var beat = Heartbeat(
            instance: name, plugin: name, phase: .ready, pid: 7,
            head: StoreHead(store: "s", generation: "g", sequence: 100),
            frontier: name == "observer" ? [:] : ["observer": 100],
            lastCommit: Self.now - .seconds(3600), configuration: stack.instance(name)?.fingerprint)
        change(&beat)
        return (beat, 0.2)
    }

    /// The findings for a stack that is healthy except for one change.
    private func findings(
        of other: StackConfiguration? = nil, _ change: (inout Examination) -> Void = { _ in }
    ) -> Findings {
        var seen = Examination(other ?? stack, state: "/s", now: Self.now, beats: [:])
        for name in stack.instances.map(\.name) + ["supervisor"] { seen.beats[name] = heard(name) }
        seen.held = Set(stack.instances.map(\.name) + ["supervisor"])
        seen.freeBytes = 50_000_000_000
        change(&seen)
        return Diagnosis.findings(seen)
    }

    private func supervisor(_ process: [String: Value]) -> (beat: Heartbeat, age: Double) {
        let whole = process.merging(["restarts": 0, "state": "ready"]) { said, _ in said }
        return heard("supervisor") { $0.say(["processes": [.object(whole)]]) }
    }

    @Test func aHealthyStackSaysSoInOneLine() {
        #expect(findings().list == [])
        let text = findings().text(for: Terminal(isTerminal: false), allWell: "all is well")
        #expect(text == "all is well\n")
    }

    @Test func nothingRuns() {
        let found = findings { seen in
            seen.held = []
            seen.beats = [:]
        }
        #expect(found.list.map(\.what) == ["no stack is running in it"] && found.worst == .error)
    }

    /// What the last `up` was given is taken again.
    @Test func aStoppedStackIsStartedAsItWas() {
        let found = findings { seen in
            (seen.held, seen.beats, seen.start) = ([], [:], "'healthbus start'")
        }
        #expect(found.list.map(\.remedy) == ["start it with 'healthbus start'"])
    }

    /// A mistake in the configuration on disk is reported, and doesn't keep anything else from being found.
    @Test func mistakesInTheConfigurationAreFindings() {
        let found = findings { seen in
            seen.mistakes = [Finding(.error, "/mine.json", line: 3, "isn't JSON", remedy: "correct it")]
            seen.quarantined = 1
            // What can't be read can't be compared either.
            seen.beats["steps"] = heard("steps") { $0.configuration = "another" }
        }
        #expect(found.list.map(\.subject) == ["/mine.json", "observer"], "\(found.list)")
    }

    @Test func theConfigurationHasChangedWhatRuns() throws {
        var running: [Value] = stack.instances.map {
            ["name": .string($0.name), "state": "ready", "restarts": 0, "pid": 7]
        }
        running.removeAll { $0["name"] == "steps" }
        running.append(["name": "files", "state": "ready", "restarts": 0, "pid": 8])
        let found = findings { seen in
            seen.beats["supervisor"] = heard("supervisor") { $0.say(["processes": .array(running)]) }
            seen.beats["steps"] = nil
            seen.held.remove("steps")
        }
        #expect(found.list.map(\.subject) == ["files", "steps"] && found.worst == .warning, "\(found.list)")
        #expect(found.list.allSatisfy { $0.remedy.contains("'healthbus stop', then 'healthbus start'") })
    }

    @Test func whereNothingRunsAFileOrALostStoreIsReported() {
        let lost = findings { seen in
            seen.held = []
            seen.beats = [:]
            seen.stores = [Finding(.warning, "observer", "its store is gone", remedy: "import again")]
        }
        #expect(lost.list.map(\.subject) == ["/s", "observer"] && lost.list.last?.severity == .warning)
        #expect(lost.list.last?.what.contains("its store is gone") == true)
        let file = findings { seen in
            seen.held = []
            seen.beats = [:]
            seen.isFile = true
        }
        #expect(file.list.map(\.what) == ["is a file, not a folder"] && file.worst == .error)
    }

    @Test func whereTheHubIsMissingOnlyThatIsSaid() {
        let silent = findings { $0.beats = [:] }
        #expect(silent.list.map(\.subject) == ["hub"] && silent.list[0].what.contains("isn't passing messages on"))
        // The printed command replaces the hanging process.
        #expect(silent.list[0].remedy.contains("'healthbus run hub --takeover'"))
        let gone = findings { seen in
            seen.beats = [:]
            seen.held.remove("hub")
        }
        #expect(gone.list.map(\.what) == ["doesn't run: no process can reach another"])
    }

    /// Each fault on its own: which instance is named, how severe the fault is, and what the message says.
    private func expectOne(
        _ severity: Finding.Severity, _ subject: String, _ words: String,
        sourceLocation: SourceLocation = #_sourceLocation, _ change: (inout Examination) -> Void
    ) {
        let list = findings(change).list
        let found = list.first
        #expect(
            list.count == 1 && found?.severity == severity && found?.subject == subject
                && found?.what.contains(words) == true,
            "\(list)", sourceLocation: sourceLocation)
        #expect(found?.remedy.isEmpty == false, sourceLocation: sourceLocation)
    }

    /// If a supervisor is running, it restarts the process in the background; otherwise a person starts one in its
    /// place.
    @Test(arguments: [
        (true, "restart it: 'healthbus stop steps', then 'healthbus start steps'"),
        (false, "restart it: 'healthbus run steps --takeover' ends the one that hangs"),
    ])
    func whoHangsIsRestartedByWhoeverRunsIt(isSupervised: Bool, remedy: String) {
        let found = findings { seen in
            seen.beats["steps"] = nil
            guard !isSupervised else { return }
            seen.beats["supervisor"] = nil
            seen.held.remove("supervisor")
        }
        #expect(found.list.map(\.remedy) == [remedy], "\(found.list)")
    }

    @Test func processes() {
        expectOne(.error, "steps", "isn't heard") { $0.beats["steps"] = nil }
        expectOne(.error, "steps", "isn't heard") { $0.beats["steps"]?.age = 28 }
        expectOne(.error, "steps", "doesn't run") { seen in
            seen.beats["steps"] = nil
            seen.held.remove("steps")
        }
        expectOne(.error, "steps", "isn't ready (running)") { $0.beats["steps"]?.beat.phase = .running }
        expectOne(.error, "steps", "ended with exit code 1") { seen in
            seen.beats["steps"] = nil
            seen.beats["supervisor"] = supervisor(["name": "steps", "state": "backoff", "lastExit": "exit code 1"])
        }
        expectOne(.warning, "steps", "restarted 3 times") { seen in
            seen.beats["supervisor"] = supervisor(["name": "steps", "state": "ready", "pid": 7, "restarts": 3])
        }
        // A process that has run for an hour since isn't failing any more.
        for (minutes, count) in [(5, 1), (61, 0)] {
            let found = findings { seen in
                seen.beats["supervisor"] = supervisor(["name": "steps", "state": "ready", "pid": 7, "restarts": 3])
                seen.beats["steps"]?.beat.started = Self.now - .seconds(Int64(minutes * 60))
            }
            #expect(found.list.count == count, "\(found.list)")
        }
        for (exit, command) in [
            ("signal 9 (Killed)", "'healthbus logs supervisor'"),
            ("exit code 1", "'healthbus logs steps --level error'"),
        ] {
            let process: [String: Value] = [
                "name": "steps", "state": "ready", "pid": 7, "restarts": 3, "lastExit": .string(exit),
            ]
            let found = findings { $0.beats["supervisor"] = supervisor(process) }
            #expect(found.list.map(\.remedy) == ["\(command) says why it ended"], "\(found.list)")
        }
        expectOne(.warning, "steps", "is process 7, run by hand; the supervisor's own, process 8, waits") { seen in
            seen.beats["supervisor"] = supervisor(["name": "steps", "state": "backoff", "pid": 8, "restarts": 1])
        }
        expectOne(.warning, "steps", "another configuration") { $0.beats["steps"]?.beat.configuration = "other" }
    }

    @Test func aStackThatCantBeFollowed() throws {
        func following(_ isRefusal: Bool) -> Value {
            var reported = IngestDetails.Following(address: "https://there")
            reported.problem = .init(
                what: "it refuses the token", remedy: "make a token", isRefusal: isRefusal,
                since: Self.now - .seconds(60), nextTry: Self.now + .seconds(60))
            return Value(reported)
        }
        let what = "can't follow https://there at present: it refuses the token"
        expectOne(.error, "ingest", what) { $0.beats["ingest"]?.beat.say(["following": following(true)]) }
        // The alert says the same, but not why.
        expectOne(.warning, "ingest", what) { seen in
            seen.beats["ingest"]?.beat.say(["following": following(false)])
            seen.alerts = [("observer", "degraded", "following ingest", "nothing came", "look")]
        }
    }

    @Test func progress() {
        expectOne(.error, "steps", "behind observer") { $0.beats["steps"]?.beat.frontier["observer"] = 50 }
        // A process that commits is making progress.
        #expect(
            findings { seen in
                seen.beats["steps"] = heard("steps") { beat in
                    beat.frontier["observer"] = 50
                    beat.lastCommit = Self.now - .seconds(1)
                }
            }.list == [])
        // However many processes wait for that, it is said once.
        expectOne(.note, "observer", "the device is locked, so changes wait") { seen in
            for name in ["steps", "sleep"] { seen.beats[name]?.beat.frontier["observer"] = 50 }
            seen.beats["observer"]?.beat.say(["device": ["locked": true, "app": "active"]])
        }
        expectOne(.warning, "uploader", "no connection") { seen in
            seen.beats["uploader"]?.beat.frontier["observer"] = 50
            seen.beats["uploader"]?.beat.say(["blocked": "no connection"])
        }
        expectOne(.warning, "steps", "busy with one turn for 2 min") {
            $0.beats["steps"]?.beat.busySince = Self.now - .seconds(120)
        }
    }

    /// A plugin that is configured by its folder has to be named so again.
    @Test func aRestartNamesThePluginAsConfigured() throws {
        let folder = try TemporaryFolder()
        let shipped = Checkout.root.appending(path: "plugins")
        try FileManager.default.copyItem(
            atPath: shipped.appending(path: "steps/plugin.json").path, toPath: folder.path + "/plugin.json")
        let catalog = try PluginCatalog(folder: shipped.path, programs: "/nowhere")
        let other = try StackConfiguration(path: nil, choices: ["steps": .plugin(folder.path)], catalog: catalog)
        let found = findings(of: other) { $0.beats["steps"]?.beat.busySince = Self.now - .seconds(120) }
            .list.first { $0.what.contains("busy with one turn") }
        let plugin = try #require(other.instance("steps")?.plugin)
        #expect(plugin.contains("/") && found?.remedy.contains("'healthbus swap steps --with \(plugin)'") == true)
    }

    /// A backlog that is seen twice is a note if it shrinks, and an error if it doesn't.
    @Test func aBacklogIsReported() {
        func look(_ pending: [Int64], committed: Int64) -> (inout Examination) -> Void {
            { seen in
                let beats = pending.map { days in
                    heard("steps") { beat in
                        beat.lastCommit = Self.now - .seconds(committed)
                        beat.say(["pending": .integer(days), "failedDays": 0])
                    }
                }
                seen.earlier = seen.beats
                (seen.earlier["steps"], seen.beats["steps"]) = (beats[0], beats[1])
            }
        }
        expectOne(.note, "steps", "has 800 days to compute, and makes progress", look([900, 800], committed: 0))
        expectOne(.error, "steps", "hasn't committed anything for a minute", look([800, 800], committed: 90))
        expectOne(.note, "steps", "waits for its turn", look([800, 800], committed: 20))
        expectOne(.warning, "steps", "dates are wrong", look([700_000, 699_000], committed: 0))
        #expect(findings(look([12, 0], committed: 0)).list == [])
        // A backend that is down is reported at once, together with how much is waiting for it.
        expectOne(.warning, "uploader", "no connection; 4\u{202F}000 changes wait") { seen in
            seen.beats["observer"]?.beat.head?.sequence = 4100
            for name in seen.beats.keys where name != "observer" { seen.beats[name]?.beat.frontier["observer"] = 4100 }
            seen.beats["uploader"] = heard("uploader") { beat in
                beat.lastCommit = Self.now
                beat.say(["blocked": "no connection"])
            }
        }
    }

    @Test func whatIsGoneOrHangs() {
        expectOne(.error, "observer", "/s/observer is gone") { $0.gone["observer"] = "/s/observer" }
        expectOne(.error, "supervisor", "nothing that ends is restarted") { $0.beats["supervisor"] = nil }
    }

    @Test func theBackendOfAnUploader() {
        func expect(_ severity: Finding.Severity, _ what: String, _ details: [String: Value]) {
            expectOne(severity, "uploader", what) { $0.beats["uploader"]?.beat.say(details) }
        }
        let well: Value = ["acceptance": "proven", "isCompared": true, "result": "complete"]
        #expect(findings { $0.beats["uploader"]?.beat.say(["backend": well]) }.list == [])
        expect(.note, "trusts the backend", ["backend": ["acceptance": "trust", "result": "trust"]])
        expect(.warning, "can't check", ["backend": ["acceptance": "proven", "why": "no connection"]])
        expect(.warning, "had lost at least 7 elements", ["backend": ["result": "redelivered", "missing": 7]])
        expect(
            .warning, "isn't delivering at present: the backend answered 429; it asked to wait until 10:00:00",
            ["backend": well, "blocked": "the backend answered 429; it asked to wait until 10:00:00"])
        expect(
            .warning, "one element after the other",
            ["backend": well, "held": 4, "blocked": "it refuses one element after the other"])
    }

    @Test func work() {
        expectOne(.error, "uploader", "refuses the token") { seen in
            seen.beats["uploader"]?.beat.say(["paused": true, "blocked": "it refuses the token"])
        }
        // What waits because of that isn't reported as a process that is stuck.
        expectOne(.error, "uploader", "refuses the password") { seen in
            seen.beats["uploader"]?.beat.frontier["observer"] = 50
            seen.beats["uploader"]?.beat.say(["paused": true, "blocked": "it refuses the password"])
        }
        // Nothing needs to be done about that; if it lasts, an alert says so.
        expectOne(.note, "uploader", "no network path") {
            $0.beats["uploader"]?.beat.say(
                ["path": ["satisfied": false, "interface": .null], "blocked": "there is no network path"])
        }
        // A backend on this machine is reached all the same.
        let offline = findings { $0.beats["uploader"]?.beat.say(["path": ["satisfied": false, "interface": .null]]) }
        #expect(offline.list.isEmpty)
        expectOne(.warning, "uploader", "refused 2 elements") {
            $0.beats["uploader"]?.beat.say(["deadLetters": 2])
        }
        // Dead letters are counted in the report, and reported only once: the alert about them isn't reported as well.
        expectOne(.warning, "uploader", "refused 1 element for good") {
            $0.beats["uploader"]?.beat.say(["deadLetters": 1])
            $0.alerts = [("uploader", "dead-letters", "", "It has refused elements for good.", "drop them")]
        }
        expectOne(.warning, "uploader", "2 elements in the version sent to it, but with other content") {
            $0.beats["uploader"]?.beat.say(["conflicts": 2])
        }
        expectOne(.warning, "observer", "2 samples are stored twice: HealthKit condensed them, or their source") {
            $0.beats["observer"]?.beat.say(["doubles": 2])
        }
        expectOne(.warning, "observer", "1 sample is stored twice: HealthKit condensed it, or its source") {
            $0.beats["observer"]?.beat.say(["doubles": 1])
        }
        #expect(findings { $0.beats["observer"]?.beat.say(["doubles": 0]) }.list == [])
        expectOne(.error, "steps", "couldn't compute 1 day;") { $0.beats["steps"]?.beat.say(["failedDays": 1]) }
        // The reason is included, and reported only once: the alert about it isn't reported as well.
        expectOne(.error, "steps", "as they were. 2025-04-05 can't be computed: it broke") {
            $0.beats["steps"]?.beat.say(["failedDays": 1])
            $0.alerts = [("steps", "failed-days", "", "2025-04-05 can't be computed: it broke", "correct it")]
        }
        expectOne(.warning, "consolidator", "3 past days can't turn final without sleep") {
            $0.beats["consolidator"]?.beat.say(["openDays": 3, "missing": ["sleep"]])
        }
        expectOne(.error, "walks", "'steps' isn't in any summary: steps has one of that name") {
            let taken: Value = ["figure": "steps", "handler": "walks", "taken": "steps"]
            $0.beats["consolidator"]?.beat.say(["collisions": [taken]])
        }
        let failed = ImportRow(
            id: "8c1f", path: "/x/export.zip", user: "me", state: .failed, report: nil, problem: "it is empty",
            request: nil)
        expectOne(.note, "observer", "import 8c1f failed") { $0.failedImports = [failed] }
        expectOne(.note, "observer", "has quarantined 4 inputs") { $0.quarantined = 4 }
        expectOne(.note, "observer", "has quarantined 1 input that") { $0.quarantined = 1 }
        expectOne(.note, "observer", "has set aside 2 inputs whose content contradicts") { seen in
            (seen.quarantined, seen.conflicts) = (2, 2)
        }
        let both = findings { seen in (seen.quarantined, seen.conflicts) = (5, 2) }
        #expect(both.list.map(\.remedy).map { $0.contains("'healthbus conflicts'") } == [true, false])
        expectOne(.warning, "debouncer", "Syncs fail.") {
            $0.alerts = [("debouncer", "degraded", "x", "Syncs fail.", "do this")]
        }
        expectOne(.error, "debouncer", "may not be woken") {
            $0.beats["observer"]?.beat.say(["refused": ["debouncer": "add a line"]])
        }
    }

    /// If a figure of another plugin has the same name as one of a shipped plugin, the shipped plugin isn't to blame.
    @Test func aFigureThatDisplacesAShippedOneIsToBlame() throws {
        let plugins = Checkout.root.appending(path: "plugins").path
        let own = try StackConfiguration(
            path: nil, choices: ["sleep": .plugin(plugins + "/sleep")],
            catalog: PluginCatalog(folder: plugins, programs: "/nowhere"))
        let taken: Value = ["figure": "steps", "handler": "steps", "taken": "sleep"]
        expectOne(.error, "sleep", "'steps' keeps that of steps out of all summaries") {
            $0.stack = own
            $0.beats["sleep"]?.beat.configuration = own.instance("sleep")?.fingerprint
            $0.beats["consolidator"]?.beat.say(["collisions": [taken]])
        }
    }

    /// One fault is reported once, together with its consequences.
    @Test func whatFollowsIsListedBelowItsCause() throws {
        let trouble: (inout Examination) -> Void = { seen in
            seen.beats["uploader"]?.beat.say([
                "blocked": "no connection", "backend": ["acceptance": "proven", "why": "no connection"],
            ])
            seen.alerts = [
                ("uploader", "degraded", "delivery", "Nothing has reached the backend for a while.", "look"),
                ("debouncer", "degraded", "rounds", "The last three syncs have failed.", "look"),
            ]
        }
        let own = findings { seen in
            trouble(&seen)
            seen.beats["backend"] = nil
        }
        let cause = try #require(own.list.first)
        #expect(own.list.count == 1 && cause.subject == "backend" && cause.severity == .error, "\(own.list)")
        #expect(cause.consequences.count == 4, "\(cause.consequences)")
        let text = own.text(for: Terminal(isTerminal: false), allWell: "")
        #expect(text.contains("\n  so: uploader: isn't delivering at present: no connection\n"), "\(text)")
        // If the backend is running, the fault is that delivery has stopped.
        let other = findings(trouble).list
        #expect(other.count == 1 && other.first?.subject == "uploader" && other.first?.consequences.count == 3)
        // Days wait for a process that isn't running, but not for one that is.
        let open: (inout Examination) -> Void = {
            $0.beats["consolidator"]?.beat.say(["openDays": 3, "missing": ["sleep"]])
        }
        let days = findings { seen in
            open(&seen)
            seen.beats["sleep"] = nil
        }.list
        #expect(days.count == 1 && days.first?.consequences.first?.contains("3 past days") == true, "\(days)")
        #expect(findings(open).list.map(\.subject) == ["consolidator"])
    }

    @Test func aZoneThatChangedWithALostStoreIsReported() {
        let findings = findings {
            $0.formerZones = [
                FormerZone(user: "me", former: "Europe/Berlin", now: "Etc/UTC"),
                FormerZone(user: "anna", former: "Asia/Tokyo", now: "Etc/UTC"),
            ]
        }
        #expect(findings.list.map(\.subject) == ["zone", "zone of anna"] && findings.worst == .warning)
        #expect(
            findings.list[0].what
                == "is Etc/UTC since the observer's store was lost; before that, days last began in Europe/Berlin")
        #expect(findings.list[0].remedy.contains("'healthbus zone set Europe/Berlin'"))
        #expect(findings.list[1].remedy.contains("'healthbus zone set Asia/Tokyo --user anna'"))
    }

    /// A workout, or a phone that was locked overnight, isn't a fault.
    @Test(arguments: Alert.Kind.allCases) func newsIsNoFinding(_ kind: Alert.Kind) {
        let found = findings { $0.alerts = [("steps", kind.rawValue, "", "It happened.", "do this")] }
        #expect(found.list.map(\.what) == (kind.isNews ? [] : ["It happened."]))
    }

    /// On a full disk, processes end again and again; that is one fault, and the first to be said.
    @Test func aFullDiskIsSaidFirst() {
        let found = findings { seen in
            seen.freeBytes = 12_000
            for name in ["observer", "uploader"] {
                seen.beats[name] = nil
                seen.held.remove(name)
            }
        }
        #expect(found.list.map(\.subject) == ["/s"] && found.worst == .error, "\(found.list)")
        #expect(found.list.first?.what.contains("its disk is full") == true)
        #expect(found.list.first?.remedy.hasPrefix("free some space") == true)
        #expect(found.list.first?.consequences.count == 2)
        let notice = DiskSpace.notice(about: "/s", free: 12_000)?.report(program: "healthbus")
        #expect(notice?.contains("the disk that holds /s is full") == true)
        #expect(notice?.contains("hint: free some space") == true)
        #expect(DiskSpace.notice(about: "/s", free: 50_000_000) == nil)
    }

    @Test func theMachine() {
        expectOne(.warning, "/s", "left on its disk") { $0.freeBytes = 500_000_000 }
        expectOne(.error, "/s", "left on its disk") { $0.freeBytes = 5_000_000 }
        expectOne(.warning, "observer", "write-ahead log") { $0.walBytes["observer"] = 300_000_000 }
        expectOne(.warning, "the clock", "set back") {
            $0.beats["steps"]?.beat.lastCommit = Self.now + .seconds(900)
        }
        expectOne(.error, "the clock", "years behind") { seen in
            seen.now = 1_000_000
            for name in seen.beats.keys { seen.beats[name]?.beat.lastCommit = nil }
        }
        // A possible cause of slowness is reported only where something is slow.
        #expect(findings { $0.load = 9 }.list == [] && findings { $0.battery = 4 }.list == [])
        let slow = findings { seen in
            (seen.load, seen.battery, seen.freeBytes) = (9, 4, 500_000_000)
        }
        #expect(slow.list.map(\.subject) == ["/s", "the machine", "the machine"])
    }
}
