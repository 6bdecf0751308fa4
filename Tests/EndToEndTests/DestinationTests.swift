import Foundation
import Glibc
import HealthModel
import Processes
import Testing

extension EndToEnd {
    /// Several destinations of one stack: two backends, and files.
    @Suite struct DestinationTests {
        private let files = "\"files\": { \"plugin\": \"files\", \"configuration\": { \"settleSeconds\": 0.2 } }"

        /// A second backend, on the state folder of `stack`, and the instance that delivers to it.
        private func secondBackend(on stack: TestStack) async throws -> (process: Command, instance: String) {
            let process = try await stack.start(["run", "backend", "--state", stack.state])
            let token = stack.state + "/secrets/backend-token"
            try await until("the second backend: \(process.error.suffix(1000))") {
                FileManager.default.fileExists(atPath: token) && (try? stack.get("stats")) != nil
            }
            return (
                process,
                """
                "second": { "plugin": "uploader", "configuration": { "url": "http://127.0.0.1:\(stack.port)",
                    "tokenFile": "\(token)", "timeoutSeconds": 1, "retryBaseSeconds": 0.05, "retryCapSeconds": 0.2 } }
                """
            )
        }

        private func destinations(_ stack: TestStack) async throws -> [String: Value] {
            let reported = try await stack.onState("destinations", "--json")
            #expect(reported.exit == .code(0), "\(reported.error)")
            let rows = (try reported.json().array ?? []).map { ($0["name"].string ?? "", $0) }
            return Dictionary(rows, uniquingKeysWith: { $1 })
        }

        @Test func oneThatHangsHoldsUpNobodyAndThenCatchesUp() async throws {
            try await withStack { other in
                try await withStack { stack in
                    let (backend, second) = try await secondBackend(on: other)
                    let file = try stack.write("stack.json", "{ \"instances\": { \(second), \(files) } }")
                    let export = try await stack.generate("export.zip", "--days", "20", "--seed", "3")
                    // This server accepts connections, but never answers.
                    backend.child.signal(SIGSTOP)
                    let up = try await stack.upAndReady("--config", file)
                    let done = try await stack.onState("import", export)
                    #expect(done.exit == .code(0), "\(done.error)")
                    try await until("the first backend and the files: \(up.error.suffix(2000))") {
                        let rows = try await destinations(stack)
                        return ["uploader", "files"].allSatisfy { rows[$0]?["behind"]["samples"] == 0 }
                            && rows["uploader"]?["lastDelivered"].string != nil
                    }
                    try await until("final days") {
                        let days = try await stack.onState("days", "--json", "--from", "1990-01-01").json().array ?? []
                        return days.count >= 20 && days.dropLast(2).allSatisfy { $0["final"] == true }
                    }
                    let hanging = try #require(try await destinations(stack)["second"])
                    #expect(hanging["behind"]["samples"].int ?? 0 > 1000, "\(hanging)")
                    #expect(hanging["behind"]["seconds"].double ?? 0 > 0)
                    let status = try await stack.onState("status")
                    #expect(status.output.contains("second") && status.output.contains("Behind"), "\(status.output)")

                    backend.child.signal(SIGCONT)
                    try await until("the second backend: \(up.error.suffix(2000))") {
                        let behind = try await destinations(stack)["second"]?["behind"]
                        return behind?["samples"] == 0 && behind?["documents"] == 0
                    }
                    let sync = try await stack.onState("sync", "--json")
                    #expect(sync.exit == .code(0), "\(sync.output)\(sync.error)")
                    try await expectEqualDays(stack, other)
                    try await stack.interrupt(up)
                    backend.child.signal(SIGTERM)
                    _ = try await backend.ended()
                }
            }
        }

        /// What both backends and the files contain: the same days, and the same number of samples of each type.
        private func expectEqualDays(_ stack: TestStack, _ other: TestStack) async throws {
            func plain(_ days: Value) -> [String] {
                (days.array ?? []).map { day in
                    var members = day.object ?? [:]
                    members["version"] = nil
                    return Value.object(members).json()
                }.sorted()
            }
            let own = try await stack.onState("days", "--json", "--from", "1990-01-01").json()
            let first = try stack.get("days")["days"]
            #expect(plain(first) == plain(try other.get("days")["days"]))
            #expect((first.array ?? []).count == own.array?.count)
            let lake = try Lake(stack)
            let rows = try lake.table("user=me/days/year=")
            #expect(rows.count == own.array?.count)
            let steps = Dictionary(rows.map { ($0["date"] ?? "", $0["steps"] ?? "") }, uniquingKeysWith: { $1 })
            for day in own.array ?? [] {
                let date = day["date"].string ?? ""
                #expect(steps[date].flatMap { Double($0) } == day["steps"].double, "\(date)")
            }
            let counts = try lake.samples()
            for (type, held) in try stack.get("stats")["types"].object ?? [:] where held["alive"] != 0 {
                #expect(counts[type] == held["alive"].int, "\(type)")
                #expect(try other.get("stats")["types"][type]["alive"] == held["alive"], "\(type)")
            }
        }

        @Test func aDestinationThatIsAddedLaterGetsEverything() async throws {
            try await withStack { stack in
                let export = try await stack.generate("export.zip", "--days", "100", "--seed", "4")
                let before = try await stack.up("--import", export, "--until-idle").ended()
                #expect(before.exit == .code(0), "\(before.error.suffix(2000))")
                let file = try stack.write("stack.json", "{ \"instances\": { \(files) } }")
                let after = try await stack.up("--config", file, "--until-idle").ended()
                #expect(after.exit == .code(0), "\(after.error.suffix(2000))")
                let lake = try Lake(stack)
                #expect(try lake.manifest()["complete"] == true)
                let content = try await StackContent(of: stack)
                #expect(try lake.samples().values.reduce(0, +) == Int64(content.delivered.count { $0.hasSuffix(" 0") }))
                #expect(try lake.table("user=me/days/year=").count == content.days.count)
                #expect(try lake.differences() == [])
            }
        }

        /// Even if the instance is killed again and again while it writes, the files end up whole and correct, and no
        /// others remain.
        @Test func filesSurviveKills() async throws {
            try await withStack { stack in
                let export = try await stack.generate("export.zip", "--days", "60", "--seed", "5")
                let byDay = """
                    "files": { "plugin": "files", "configuration": { "by": "day", "settleSeconds": 0 } }
                    """
                let file = try stack.write("stack.json", "{ \"instances\": { \(byDay) } }")
                let up = try await stack.up("--config", file, "--import", export, "--until-idle")
                let lake = try Lake(stack, mayBeAbsent: true)
                var killed = 0
                for least in [5, 60, 200, 400] {
                    try await until("\(least) files: \(up.error.suffix(1000))") {
                        lake.files().count >= least || !up.isRunning
                    }
                    guard up.isRunning, let pid = try stack.pid(of: "files") else { break }
                    kill(pid, SIGKILL)
                    killed += 1
                    try await until("another process") {
                        try stack.pid(of: "files").map { $0 != pid } ?? false || !up.isRunning
                    }
                }
                let ended = try await up.ended(within: 600)
                #expect(ended.exit == .code(0), "\(ended.error.suffix(2000))")
                #expect(killed >= 2, "killed \(killed) times")
                #expect(try lake.differences() == [])
                let content = try await StackContent(of: stack)
                #expect(try lake.samples().values.reduce(0, +) == Int64(content.delivered.count { $0.hasSuffix(" 0") }))

                // Files that were removed or edited are written again with their former content.
                let victims = try lake.manifest()["files"].array?.compactMap { $0["path"].string }.prefix(2) ?? []
                let (gone, edited) = (try #require(victims.first), try #require(victims.last))
                let was = try lake.bytes(edited)
                try FileManager.default.removeItem(atPath: lake.folder + "/" + gone)
                try Data("edited\n".utf8).write(to: URL(fileURLWithPath: lake.folder + "/" + edited))
                let again = try await stack.up("--config", file, "--until-idle").ended()
                #expect(again.exit == .code(0), "\(again.error.suffix(2000))")
                #expect(try lake.differences() == [])
                #expect(try lake.bytes(edited) == was && gone != edited)
            }
        }
    }
}
