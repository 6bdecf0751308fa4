import Configuration
import Foundation
import Glibc
import HealthModel
import Processes
import TestSupport
import Testing

extension EndToEnd {
    /// Tests `validate` before a stack starts, and `doctor` while it runs.
    @Suite struct FindingsTests {
        private func whats(_ ended: Command.Ended) throws -> [String] {
            // A busy machine is reported too, but that is irrelevant here.
            try ended.json().array?.filter { $0["subject"] != "the machine" }.compactMap { $0["what"].string } ?? []
        }

        @Test func validateReportsAllAtOnceAndStartsNothing() async throws {
            try await withStack { stack in
                let clean = try await stack.onState("validate")
                #expect(clean.exit == .code(0) && clean.output.hasPrefix("nothing is wrong"), "\(clean.output)")
                #expect(!FileManager.default.fileExists(atPath: stack.state))

                let config = try stack.write(
                    "config.json",
                    """
                    { "instances": {
                        "debouncer": { "configuration": { "windowSecond": 1 } },
                        "uploader": { "configuration": { "url": "ftp://x", "tokenFile": "/nowhere/token" } },
                        "uploader": { "configuration": { "url": "ftp://x", "tokenFile": "/nowhere/token" } } },
                      "monitoring": { "port": -1 } }
                    """)
                let wrong = try await stack.onState("validate", "--json", "--config", config)
                #expect(wrong.exit == .code(2))
                let list = try wrong.json().array ?? []
                #expect(list.prefix(3).map { $0["line"].int } == [2, 4, 5])
                let whats = try whats(wrong)
                for words in ["windowSeconds", "already named in line 3", "at least 0", "isn't there", "http"] {
                    #expect(whats.contains { $0.contains(words) }, "\(words): \(whats)")
                }
                // The command that starts the stack also reports all of these.
                let up = try await stack.onState("up", "--config", config)
                #expect(up.exit == .code(2), "\(up.error)")
                for line in [2, 4, 5] { #expect(up.error.contains("config.json:\(line): "), "\(up.error)") }
                let errors = list.filter { $0["severity"] == "error" }
                #expect(up.error.contains("there are \(errors.count) errors\n"), "\(up.error)")
                for what in errors.compactMap({ $0["what"].string }) { #expect(up.error.contains(what), "\(up.error)") }
            }
        }

        /// The stack that an ingest follows is checked in the same way as a backend, and so are destinations of other
        /// kinds.
        @Test func validateLooksAtWhatIsElsewhere() async throws {
            try await withStack { stack in
                let config = try stack.write(
                    "config.json",
                    """
                    { "instances": {
                        "ingest": { "configuration": {
                            "followUrl": "ftp://x", "followTokenFile": "/nowhere/follow" } },
                        "fhir": { "plugin": "fhir", "configuration": { "server": "ftp://y" } },
                        "home-assistant": { "plugin": "home-assistant", "configuration": {
                            "user": "me", "passwordFile": "/nowhere/password" } } } }
                    """)
                let wrong = try await stack.onState("validate", "--json", "--config", config)
                let found = try wrong.json().array ?? []
                func what(_ key: String) -> String {
                    found.first { $0["key"].string?.hasSuffix(".configuration.\(key)") == true }?["what"].string ?? ""
                }
                #expect(what("followUrl").contains("http") && what("server").contains("http"), "\(wrong.output)")
                #expect(what("followTokenFile") == "/nowhere/follow isn't there")
                #expect(what("passwordFile") == "/nowhere/password isn't there")
                let bare = try stack.write(
                    "bare.json",
                    #"{ "instances": { "ingest": { "configuration": { "followUrl": "https://127.0.0.1:1" } } } }"#)
                let lacking = try await stack.onState("validate", "--config", bare)
                #expect(lacking.exit == .code(2) && lacking.output.contains("needs the other stack's token"))
            }
        }

        /// A script can distinguish what `up` would refuse from what wouldn't work, such as a missing token (1), and
        /// from what may resolve itself, such as a backend that doesn't answer yet (0).
        @Test func whatUpWouldStartWithIsReportedSeparately() async throws {
            try await withStack { stack in
                let own =
                    #"{ "backend": null, "uploader": { "configuration": { "url": "http://127.0.0.1:\#(stack.port)", "tokenFile": "\#(stack.path("token"))" } } }"#
                let config = try stack.write("config.json", #"{ "instances": \#(own) }"#)
                let lacking = try await stack.onState("validate", "--config", config)
                #expect(lacking.exit == .code(1) && lacking.output.contains("isn't there"), "\(lacking)")
                // A token that nothing names is missed like one that isn't there.
                let bare = try stack.write(
                    "bare.json",
                    #"{ "instances": \#(own.replacing(#", "tokenFile": "\#(stack.path("token"))""#, with: "")) }"#)
                let unset = ["HEALTHBUS_BACKEND_TOKEN": ""]
                let unnamed = try await stack.onState("validate", "--config", bare, environment: unset)
                #expect(unnamed.exit == .code(1) && unnamed.output.contains("\"token\": \"none\""), "\(unnamed)")
                let token = try stack.write("token", "secret")
                #expect(chmod(token, 0o600) == 0)
                let silent = try await stack.onState("validate", "--config", config)
                #expect(silent.exit == .code(0) && silent.output.contains("1 warning"), "\(silent)")
            }
        }

        /// If a backend uses any free port, an uploader can't find it without knowing the port.
        @Test func aPortThatNobodyCanKnowIsRefused() async throws {
            try await withStack { stack in
                let any = try stack.write(
                    "any.json", #"{ "instances": { "backend": { "configuration": { "port": 0 } } } }"#)
                let reported = try stack.write(
                    "known.json",
                    #"{ "instances": { "backend": { "configuration": { "port": 0 } }, "uploader": { "configuration": { "url": "http://127.0.0.1:\#(stack.port)" } } } }"#
                )
                let unset = ["HEALTHBUS_BACKEND_PORT": ""]
                for command in ["validate", "up"] {
                    let wrong = try await stack.onState(command, "--config", any, environment: unset)
                    #expect(wrong.exit == .code(2), "\(wrong)")
                    #expect(
                        (wrong.output + wrong.error).contains(
                            "any.json:1: 'instances.backend.configuration.port' is 0, so the backend takes any free port"
                        ), "\(wrong)")
                }
                let variable = try await stack.onState("validate", environment: ["HEALTHBUS_BACKEND_PORT": "0"])
                #expect(variable.exit == .code(2) && variable.output.contains("'HEALTHBUS_BACKEND_PORT' is 0"))
                #expect(try await stack.onState("validate", "--config", reported, environment: unset).exit == .code(0))
            }
        }

        /// Problems outside the configuration also keep `up` from starting.
        @Test func validateLooksAround() async throws {
            try await withStack { stack in
                let taken = try freePort()
                let monitor = try await stack.start(["monitor", "--listen", "\(taken)", "--state", stack.state])
                try await until("it listens") { monitor.error.contains("/metrics") }
                let port = try await stack.onState(
                    "validate", "--json", environment: ["HEALTHBUS_BACKEND_PORT": "\(taken)"])
                #expect(try port.exit == .code(2) && whats(port).contains { $0.contains("in use by another process") })
                // The port comes from the environment, so that is what must be changed.
                #expect(try port.json().array?.contains { $0["key"] == "HEALTHBUS_BACKEND_PORT" } == true)
                monitor.child.signal(SIGTERM)
                _ = try await monitor.ended(within: 10)

                let zone = try await stack.onState(
                    "validate", "--json",
                    environment: ["HEALTHBUS_ZONE": "Europe/Nowhere", "HEALTHBUS_LOG_LEVEL": "loud"])
                #expect(zone.exit == .code(2))
                #expect(try whats(zone).count == 2)
                let letters = try await stack.onState("validate", environment: ["HEALTHBUS_BACKEND_PORT": "abc"])
                #expect(letters.exit == .code(2) && letters.output.contains("must be a port"), "\(letters)")

                try FileManager.default.createDirectory(
                    atPath: stack.state, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755])
                let open = try await stack.onState("validate", "--json")
                #expect(
                    try open.exit == .code(0) && whats(open).contains { $0.contains("open to other accounts (0755)") })
            }
        }

        /// A name that no sample has is reported, but may still become valid later.
        @Test func validateLooksUpSources() async throws {
            try await withStack { stack in
                let odd = stack.path("two.zip")
                func export(_ value: Int) -> String {
                    """
                    <HealthData locale="en"><Me HKCharacteristicTypeIdentifierDateOfBirth="2199-01-01"/>
                    <Record type="HKQuantityTypeIdentifierStepCount" sourceName="Pedometer" unit="count" \
                    startDate="2025-04-01 11:00:00 +0200" endDate="2025-04-01 11:10:00 +0200" value="\(value)"/></HealthData>
                    """
                }
                try Archive.write(["a/export.xml": export(5), "b/export.xml": export(6)], to: odd)
                let up = try await stack.upAndReady()
                let imported = try await stack.onState("import", odd)
                #expect(imported.output.contains("not read: b/export.xml, another export"), "\(imported)")
                #expect(imported.output.contains("passed over: a date of birth"), "\(imported)")
                func config(_ source: String) throws -> String {
                    let order = #"{ "sourceOrder": { "HKQuantityTypeIdentifierStepCount": ["\#(source)"] } }"#
                    return try stack.write(
                        "order.json", #"{ "instances": { "steps": { "configuration": \#(order) } } }"#)
                }
                for runs in [true, false] {
                    if !runs { try await stack.interrupt(up) }
                    let wrong = try await stack.onState("validate", "--json", "--config", config("Pedometre"))
                    let found = try #require(
                        try wrong.json().array?.first { $0["what"].string?.contains("'Pedometre'") == true })
                    #expect(wrong.exit == .code(0) && found["severity"] == "warning" && found["line"] == 1)
                    #expect(found["remedy"].string?.contains("did you mean 'Pedometer'?") == true)
                    let right = try await stack.onState("validate", "--json", "--config", config("Pedometer"))
                    #expect(right.exit == .code(0))
                    #expect(try whats(right).allSatisfy { !$0.contains("no sample has a source") })
                }
            }
        }

        /// Anything that a program refuses at its start is reported by `validate` beforehand.
        @Test func validateFindsWhatUpRefuses() async throws {
            try await withStack { stack in
                let folder = stack.path("debouncer")
                try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
                var manifest = try String(contentsOfFile: Self.manifest("debouncer"), encoding: .utf8)
                let task = try #require(manifest.firstRange(of: #/"remote-sync",?\s*/#))
                manifest.removeSubrange(task)
                try Data(manifest.utf8).write(to: URL(fileURLWithPath: folder + "/plugin.json"))
                let cases = [
                    (#"{"instances": {"debouncer": {"plugin": "\#(folder)"}}}"#, "remote-sync"),
                    (#"{"instances": {"observer": {"configuration": {"zone": "Europe/Nowhere"}}}}"#, "Europe/Nowhere"),
                    (#"{"bus": {"sealed": true}}"#, "keys"),
                    (
                        #"{"instances": {"backend": {"configuration": {"postgresUrlFile": "/nowhere/url"}}}}"#,
                        "/nowhere/url"
                    ),
                ]
                for (text, words) in cases {
                    let config = try stack.write("config.json", text)
                    let found = try await stack.onState("validate", "--json", "--config", config)
                    #expect(try found.exit != .code(0) && whats(found).contains { $0.contains(words) }, "\(found)")
                    #expect(!FileManager.default.fileExists(atPath: stack.state))
                    let up = try await stack.onState("up", "--config", config)
                    #expect(up.exit != .code(0) && up.error.contains(words), "\(up.error)")
                    try FileManager.default.removeItem(atPath: stack.state)
                }
            }
        }

        /// A stack that is wrong as a whole isn't started: `up` and `validate` apply the same rules.
        @Test func upRefusesWhatValidateCallsAnError() async throws {
            try await withStack { stack in
                let cases = [
                    (#"{"instances": {"steps2": {"plugin": "steps"}}}"#, "these would count twice"),
                    (#"{"instances": {"hub": null}}"#, "has no hub"),
                    (#"{"instances": {"observer": null}}"#, "has no observer"),
                    (#"{"instances": {"backend": null}}"#, "this stack has no backend of its own"),
                    (#"{"instances": {"uploader": {"configuration": {"types": ["stepz"]}}}}"#, "neither a family"),
                ]
                for (text, words) in cases {
                    let config = try stack.write("config.json", text)
                    let found = try await stack.onState("validate", "--json", "--config", config)
                    #expect(try found.exit == .code(2) && whats(found).contains { $0.contains(words) }, "\(found)")
                    let up = try await stack.onState("up", "--config", config)
                    #expect(
                        up.exit == .code(2) && up.error.contains("config.json:1: ") && up.error.contains(words),
                        "\(up.error)")
                    #expect(!FileManager.default.fileExists(atPath: stack.state))
                }
            }
        }

        /// `up` refuses damaged files, and starts from scratch if the observer's file is gone.
        @Test func whatIsDamagedOrGoneIsReportedBeforeTheStart() async throws {
            try await withStack { stack in
                let export = try await stack.generate("export.zip", "--days", "3", "--seed", "4")
                let first = try await stack.up("--import", export, "--until-idle").ended(within: 120)
                #expect(first.exit == .code(0), "\(first.error.suffix(2000))")
                let whole = try await stack.onState("validate", "--json")
                #expect(try whole.exit == .code(0) && whats(whole) == [], "\(whole)")
                #expect(truncate(stack.state + "/steps/state.sqlite", 50) == 0)
                #expect(truncate(stack.state + "/uploader/state.sqlite", 0) == 0)
                let damaged = try await stack.onState("validate", "--json")
                #expect(damaged.exit == .code(2))
                #expect(
                    try whats(damaged) == [
                        "is damaged: it is cut off: only 50 bytes of it are there",
                        "is damaged: it is empty: what it held is gone",
                    ])
                let doctor = try await stack.onState("doctor", "--json")
                #expect(doctor.exit == .code(1))
                #expect(try whats(doctor) == ["no stack is running in it"] + whats(damaged))

                try FileManager.default.moveItem(atPath: stack.state + "/observer", toPath: stack.path("aside"))
                for (command, code) in [("validate", Int32(2)), ("doctor", 1)] {
                    let gone = try await stack.onState(command)
                    #expect(
                        gone.exit == .code(code) && gone.output.contains("observer: its store is gone")
                            && gone.output.contains("'healthbus zone set Europe/Berlin --state \(stack.state)'"),
                        "\(gone)")
                }
            }
        }

        @Test func aFileIsNoStateFolder() async throws {
            try await withStack { stack in
                let file = try stack.write("file", "x")
                for (command, code) in [("validate", Int32(2)), ("doctor", 1)] {
                    let ended = try await stack.run(command, "--json", "--state", file)
                    #expect(
                        try ended.exit == .code(code) && whats(ended).contains("is a file, not a folder"), "\(ended)")
                }
            }
        }

        /// A process that ends again and again doesn't hold its lock between two starts.
        @Test func aStackWithoutItsObserverIsntTakenForNone() async throws {
            try await withStack { stack in
                let file = try stack.write("export.xml", "x")
                let folder = stack.state + "/supervisor"
                try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
                let lock = try #require(try InstanceLock.take(folder: folder))
                let ended = try await stack.onState("import", file)
                #expect(
                    ended.exit == .code(1) && ended.error.contains("its observer isn't")
                        && ended.error.contains("'healthbus doctor --state \(stack.state)'"), "\(ended)")
                withExtendedLifetime(lock) {}
            }
        }

        /// When a complete import is refused, the hint says what really helps.
        @Test func aRefusedImportSaysWhatHelps() async throws {
            try await withStack { stack in
                func export(_ name: String, date: String?, _ starts: [String]) throws -> String {
                    let records = starts.map { start in
                        """
                        <Record type="HKQuantityTypeIdentifierStepCount" sourceName="Watch" unit="count" \
                        creationDate="2025-04-01 13:00:00 +0200" startDate="\(start)" \
                        endDate="2025-04-01 12:30:00 +0200" value="7"/>
                        """
                    }
                    let head = date.map { "<ExportDate value=\"\($0) 09:00:00 +0200\"/>\n" } ?? ""
                    return try stack.write(
                        name,
                        "<?xml version=\"1.0\"?>\n<HealthData locale=\"de_DE\">\n\(head)"
                            + records.joined(separator: "\n") + "\n</HealthData>\n")
                }
                let all = (10...12).map { "2025-04-01 \($0):00:00 +0200" }
                let up = try await stack.upAndReady()
                let first = try export("first.xml", date: "2025-05-01", all)
                #expect(try await stack.onState("import", first).exit == .code(0))
                let cases: [(file: String, why: String, help: String)] = [
                    (
                        try export("less.xml", date: "2025-05-02", [all[0], all[2]]), "it would delete 1 of",
                        "--delete-up-to"
                    ),
                    (
                        try export("odd.xml", date: "2025-05-02", all + ["yesterday"]),
                        "1 entry in it isn't understood",
                        "'healthbus quarantine list --state \(stack.state)'"
                    ),
                    (try export("bare.xml", date: nil, all), "(no ExportDate)", "import a newer, complete export"),
                ]
                for (file, why, help) in cases {
                    let ended = try await stack.onState("import", "--complete", "--dry-run", file)
                    #expect(
                        ended.exit == .code(1) && ended.error.contains("would be refused: ")
                            && ended.error.contains(why) && ended.error.contains(help), "\(ended)")
                    #expect(ended.error.contains("--delete-up-to") == (help == "--delete-up-to"), "\(ended.error)")
                }
                try await stack.interrupt(up)
            }
        }

        private static func manifest(_ plugin: String) -> String {
            URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
                .deletingLastPathComponent().appending(path: "plugins/\(plugin)/plugin.json").path
        }

        /// "Nothing is wrong" isn't reported while anything is wrong.
        @Test func theDoctorSaysWhatIsBehindAndGone() async throws {
            try await withStack { stack in
                let export = try await stack.generate("export.zip", "--days", "30", "--seed", "7")
                let taken = try freePort()
                let config = try stack.write(
                    "config.json",
                    #"{"instances": {"backend": null, "uploader": {"configuration": {"url": "http://127.0.0.1:\#(taken)", "tokenFile": "\#(try stack.write("token", "secret"))"}}}}"#
                )
                let up = try await stack.upAndReady("--config", config)
                #expect(try await stack.onState("import", export).exit == .code(0))
                try await until("the backend that is down is reported", every: 100) {
                    let ill = try await stack.onState("doctor")
                    return ill.exit == .code(1) && ill.output.contains("uploader: isn't delivering at present")
                        && ill.output.contains("changes wait")
                }
                // The supervisor is suspended, so `up` can't notice this before `doctor` does.
                let supervisor = up.child.pid
                kill(supervisor, SIGSTOP)
                try FileManager.default.moveItem(atPath: stack.state + "/observer", toPath: stack.path("aside"))
                let gone = try await stack.onState("doctor")
                #expect(
                    gone.exit == .code(1) && gone.output.contains("observer: runs, but \(stack.state)/observer is gone")
                        && gone.output.contains("supervisor: runs, but isn't heard"), "\(gone)")
                kill(supervisor, SIGCONT)
                #expect(try await up.ended().exit == .code(1))
            }
        }

        @Test func theDoctorFindsWhatIsBroken() async throws {
            try await withStack { stack in
                let nobody = try await stack.onState("doctor", "--json")
                #expect(try nobody.exit == .code(1) && whats(nobody).first == "no stack is running in it")

                let up = try await stack.upAndReady()
                let count = try Programs.countOfInstances()
                try await until("all is well", every: 100) {
                    let well = try await stack.onState("doctor")
                    return well.exit == .code(0)
                        && well.output.hasPrefix("all is well: \(count) processes are ready, and none is stuck")
                }
                // Whoever only imports files needs no token; whoever was let in may miss it.
                _ = try await stack.token()
                #expect(try await stack.onState("token", "revoke", "phone").exit == .code(0))
                let door = try await stack.onState("doctor")
                #expect(door.exit == .code(0) && door.output.contains("ingest: lets nobody in any more"), "\(door)")
                #expect(door.output.contains("healthbus pair"))
                _ = try await stack.token()
                let steps = try #require(try stack.pid(of: "steps"))
                kill(steps, SIGSTOP)
                try await until("steps is missed", every: 100) {
                    let ill = try await stack.onState("doctor", "--json")
                    return try ill.exit == .code(1) && ill.json().array?.first?["subject"] == "steps"
                        && whats(ill)[0].contains("isn't heard")
                }
                kill(steps, SIGCONT)
                // The stack was started with options that differ from those now on disk.
                let config = try stack.write(
                    "config.json", #"{"instances": {"debouncer": {"configuration": {"windowSeconds": 7}}}}"#)
                try await until("another configuration", every: 100) {
                    try await whats(stack.onState("doctor", "--json", "--config", config)).first
                        == "runs with another configuration or version than the one on disk"
                }
                // `status` shows which process was put in place of an instance by hand.
                let hand = try await stack.start(["run", "steps", "--takeover", "--state", stack.state])
                try await until("steps is run by hand", every: 100) {
                    let row = try await stack.onState("status", "--json").json()["processes"].array?.first {
                        $0["name"] == "steps"
                    }
                    return row?["state"] == "ready" && row?["pid"] == .integer(Int64(hand.child.pid))
                }
                let reported = try await stack.onState("doctor")
                #expect(
                    reported.exit == .code(1)
                        && reported.output.contains("steps: is process \(hand.child.pid), run by hand"),
                    "\(reported.output)")
                hand.child.signal(SIGTERM)
                _ = try await hand.ended(within: 10)
                try await stack.interrupt(up)
            }
        }
    }
}
