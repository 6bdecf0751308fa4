import Foundation
import Glibc
import HealthModel
import Processes
import TestSupport
import Testing

extension EndToEnd {
    /// A stack in the background, and processes that a person stops.
    @Suite struct StartStopTests {
        private func state(of name: String, _ stack: TestStack) async throws -> String? {
            try await stack.onState("status", "--json").json()["processes"].array?.first { $0["name"].string == name }?[
                "state"
            ].string
        }

        @Test func aStackGoesOnInTheBackgroundUntilItIsStopped() async throws {
            try await withStack { stack in
                let metrics = "127.0.0.1:\(try freePort())"
                let detached = try await stack.onState(
                    "up", "--detach", "--zone", "Europe/Berlin", "--metrics", metrics)
                #expect(detached.exit == .code(0), "\(detached)")
                #expect(detached.output.contains("'healthbus stop --state \(stack.state)'"), "\(detached.output)")
                #expect(detached.error.contains("processes are ready") && !detached.error.contains("instance.started"))
                let first = try #require(try stack.pid(of: "supervisor"))
                #expect(getsid(first) == first, "it has a session of its own")

                let again = try await stack.onState("start")
                #expect(
                    again.exit == .code(1) && again.error.contains("is already running in \(stack.state)"), "\(again)")
                let stopped = try await stack.onState("stop")
                #expect(stopped.exit == .code(0) && stack.processes.isEmpty, "\(stopped)")
                let twice = try await stack.onState("stop")
                #expect(twice.exit == .code(0) && twice.output.contains("no stack is running"), "\(twice)")

                let started = try await stack.onState("start")
                #expect(started.exit == .code(0), "\(started)")
                #expect(started.error.contains("as last time: --metrics \(metrics)"), "\(started.error)")
                #expect(started.error.contains("metrics  http://\(metrics)/metrics"), "\(started.error)")
                #expect(try await stack.onState("stop").exit == .code(0))
                let nowhere = try await stack.run("stop", "--state", stack.path("none"))
                #expect(nowhere.exit == .code(1) && nowhere.error.contains("there is no state folder"), "\(nowhere)")
            }
        }

        /// A port that was set for the start stays this stack's in later commands, so none asks another stack's backend.
        @Test func aPortThatWasSetIsRememberedAndNoSecretIs() async throws {
            try await withStack { stack in
                let export = try await stack.generate("export.zip", "--days", "3")
                let filled = try await stack.up(
                    "--import", export, "--until-idle", environment: ["HEALTHBUS_FHIR_TOKEN": "confidential"]
                ).ended()
                #expect(filled.exit == .code(0), "\(filled)")
                let record = stack.state + "/stack.json"
                #expect(try !String(contentsOfFile: record, encoding: .utf8).contains("confidential"))
                #expect(
                    try FileManager.default.attributesOfItem(atPath: record)[.posixPermissions] as? Int == 0o600)

                let unset = ["HEALTHBUS_BACKEND_PORT": ""]
                let started = try await stack.onState("start", environment: unset)
                #expect(started.exit == .code(0), "\(started)")
                #expect(
                    started.error.contains("as last time: HEALTHBUS_BACKEND_PORT=\(stack.port)"), "\(started.error)")
                #expect(started.error.contains("but not now: HEALTHBUS_FHIR_TOKEN;"), "\(started.error)")

                let destinations = try await stack.onState("destinations", environment: unset)
                #expect(destinations.output.contains("http://127.0.0.1:\(stack.port)"), "\(destinations)")
                let verified = try await stack.onState("verify", environment: unset)
                #expect(verified.exit == .code(0), "\(verified)")
                func origin(_ environment: [String: String]) async throws -> Value? {
                    try await stack.onState("config", "show", "backend", "--json", environment: environment).json()
                        .array?.first { $0["key"] == "backend.port" }?["from"]
                }
                #expect(try await origin(unset) == ["kind": "remembered", "name": "HEALTHBUS_BACKEND_PORT"])
                #expect(try await origin([:]) == ["kind": "environment", "name": "HEALTHBUS_BACKEND_PORT"])
                #expect(try await stack.onState("stop", environment: unset).exit == .code(0))
            }
        }

        @Test func anImportInTheBackgroundIsAnnounced() async throws {
            try await withStack { stack in
                let export = try await stack.generate("export.zip", "--days", "3")
                let detached = try await stack.onState("up", "--detach", "--import", export)
                #expect(detached.exit == .code(0), "\(detached)")
                #expect(detached.output.contains("It goes on to import \(export) in the background"), "\(detached)")
                #expect(detached.output.contains("'healthbus imports list --state \(stack.state)'"), "\(detached)")
                try await until("days") {
                    let rows = try await stack.onState("imports", "--json").json()["imports"].array ?? []
                    let days = try await stack.onState("days")
                    #expect(rows.isEmpty || !days.error.contains("'healthbus import FILE"), "\(days)")
                    return !days.output.isEmpty
                }
                #expect(try await stack.onState("stop").exit == .code(0))
            }
        }

        @Test func aStartInTheBackgroundThatFailsSaysWhy() async throws {
            try await withStack { stack in
                let config = try stack.write("config.json", #"{"instancess": {}}"#)
                let refused = try await stack.onState("up", "--detach", "--config", config)
                #expect(refused.exit == .code(2) && refused.error.contains("instancess"), "\(refused)")
                let up = try await stack.upAndReady()
                let elsewhere = try await stack.run("up", "--detach", "--state", stack.path("e"))
                #expect(elsewhere.exit == .code(1), "\(elsewhere)")
                #expect(elsewhere.error.contains("is taken by the stack in \(stack.state)"), "\(elsewhere.error)")
                try await stack.interrupt(up)
            }
        }

        /// A process that was stopped by a person stays down after the supervisor ends, however it ends.
        @Test func aStoppedProcessStaysDownUntilItIsStarted() async throws {
            try await withStack { stack in
                var up = try await stack.upAndReady()
                let hub = try await stack.onState("stop", "hub")
                #expect(hub.exit == .code(1) && hub.error.contains("can't be stopped alone"), "\(hub)")
                #expect(try await stack.onState("stop", "stepz").error.contains("did you mean 'steps'?"))
                let stopped = try await stack.onState("stop", "steps")
                #expect(stopped.exit == .code(0), "\(stopped)")
                #expect(stopped.output.contains("'healthbus start steps --state \(stack.state)'"), "\(stopped.output)")
                #expect(try stack.pid(of: "steps") == nil)
                #expect(try await state(of: "steps", stack) == "stopped")
                let doctor = try await stack.onState("doctor")
                #expect(doctor.output.contains("steps: was stopped by hand"), "\(doctor.output)")

                kill(up.child.pid, SIGKILL)
                _ = try await up.ended()
                try await until("nothing runs") { stack.processes.isEmpty }
                up = try await stack.up()
                try await until("the others: \(up.error)") {
                    up.error.contains("processes are ready; the others are stopped")
                }
                #expect(up.error.contains("'steps' was stopped, so it stays down"), "\(up.error)")
                #expect(try stack.pid(of: "steps") == nil)

                let started = try await stack.onState("start", "steps")
                #expect(started.exit == .code(0), "\(started)")
                #expect(try stack.pid(of: "steps") != nil)
                #expect(try await state(of: "steps", stack) == "ready")

                // If the stack is stopped, the request is stored for the next start.
                try await stack.interrupt(up)
                #expect(try await stack.onState("stop", "body").output.contains("the next start leaves it down"))
                let idle = try await stack.up("--until-idle").ended()
                #expect(
                    idle.exit == .code(1) && idle.error.contains("'body' is stopped"), "\(idle.error.suffix(1500))")
                #expect(try await stack.onState("start", "body").exit == .code(0))
                #expect(try await stack.up("--until-idle").ended().exit == .code(0))
            }
        }

        @Test func theServiceUnitIsWrittenAndShown() async throws {
            try await withStack { stack in
                let home = ["XDG_CONFIG_HOME": stack.path("config"), "HEALTHBUS_PLUGINS": ""]
                let shown = try await stack.onState("service", "show", environment: home)
                for line in [
                    "Type=notify", "up --state \(stack.state)", "Environment=HEALTHBUS_BACKEND_PORT=\(stack.port)",
                    "Environment=HEALTHBUS_DASHBOARD_PORT=0",
                    "WantedBy=default.target", "Restart=on-failure",
                ] { #expect(shown.output.contains(line), "\(line): \(shown.output)") }
                #expect(!shown.output.contains("User="))
                let path = stack.path("config/systemd/user/healthbus.service")
                let written = try await stack.onState("service", "install", environment: home)
                #expect(written.exit == .code(0) && written.output.contains("systemctl --user enable --now healthbus"))
                #expect(try String(contentsOfFile: path, encoding: .utf8) == shown.output)
                let again = try await stack.onState("service", "install", environment: home)
                #expect(again.exit == .code(0) && !again.output.contains("replacing"), "\(again)")
                let isSystemdRunning = FileManager.default.fileExists(atPath: "/run/systemd/system")
                #expect(again.error.contains("systemd doesn't run here") != isSystemdRunning, "\(again)")
                let moved = try await stack.onState(
                    "service", "install", environment: home.merging(["HEALTHBUS_ZONE": "Asia/Tokyo"]) { $1 })
                #expect(
                    moved.exit == .code(0) && moved.output.contains("replacing a unit of other content"), "\(moved)")
                try "[Unit]\nDescription=mine\n".write(toFile: path, atomically: true, encoding: .utf8)
                let foreign = try await stack.onState("service", "install", environment: home)
                #expect(foreign.exit == .code(1) && foreign.error.contains("--name"), "\(foreign)")
                let system = try await stack.onState("service", "show", "--system", environment: home)
                #expect(system.output.contains("WantedBy=multi-user.target") && system.output.contains("User="))
                let odd = try await stack.onState("service", "show", "--name", "a/b", environment: home)
                #expect(odd.exit == .code(2), "\(odd)")
            }
        }
    }
}
