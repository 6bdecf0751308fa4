import Foundation
import Glibc
import HealthModel
import MessageBus
import Processes
import Protocol
import Testing

extension EndToEnd {
    /// Whatever is sent on the bus, no process ends or grows because of it, and work continues.
    @Suite struct BusTests {
        /// Topics that some process subscribes to.
        private static let topics = [
            "sync.steps", "sync.uploader", "pull.observer", "pull.steps", "page.steps", "page.uploader",
            "page.consolidator",
            "heartbeat.observer", "heartbeat.steps", "observed.HKQuantityTypeIdentifierStepCount", "control.observer",
            "control.hello",
        ]

        @Test func nonsenseOnTheBus() async throws {
            try await withStack { stack in
                let export = try await stack.generate("export.zip", "--days", "10")
                let up = try await stack.upAndReady("--import", export)
                let before = Set(stack.processes)
                let bus = try BusConnection(
                    address: BusAddress(folder: stack.state + "/run"), subscriptions: [],
                    handlers: .init(message: { _ in }))
                defer { bus.close() }
                try await send(to: bus, hearing: up)

                // No process has ended, and none has allocated as much memory as a message claimed to need.
                #expect(up.isRunning)
                #expect(Set(stack.processes) == before, "\(up.error.suffix(3000))")
                for pid in before {
                    #expect(try Self.memory(of: pid) < 100 << 20, "\(pid)")
                }
                // New input is still processed as always.
                let later = try await stack.generate("later.zip", "--days", "5", "--seed", "9", "--end", "2025-05-01")
                #expect(try await stack.onState("import", later).exit == .code(0))
                try await stack.interrupt(up)
                let idle = try await stack.up("--until-idle").ended()
                #expect(idle.exit == .code(0), "\(idle.error.suffix(2000))")

                let content = try await StackContent(of: stack)
                let expected = try await withStack { other in
                    let ended = try await other.up("--import", export, "--import", later, "--until-idle").ended()
                    #expect(ended.exit == .code(0), "\(ended.error.suffix(2000))")
                    return try await StackContent(of: other)
                }
                #expect(content.differences(from: expected) == [])
            }
        }

        /// Sends all frames to all topics until the receivers have reported both those that aren't messages and those
        /// with the wrong version.
        private func send(to bus: BusConnection, hearing up: Command) async throws {
            try await until("complaints: \(up.error.suffix(2000))", every: 100) {
                for topic in Self.topics {
                    let frames = Self.malformed + Self.senseless.map { Self.frames($0, on: topic) }
                    for frames in frames { bus.send([Array(topic.utf8)] + frames) }
                }
                let said = up.error
                return said.contains("speaks protocol 2.0, this process 1.") && said.contains("message.malformed")
                    && said.contains("a message has three frames")
            }
        }

        private static func header(version: Int64, from name: String = "a-test") -> [UInt8] {
            CBOREncoder.encode(["from": .string(name), "at": 1, "v": [.integer(version), 0]])
        }

        /// Frames sent by a process that is trusted on that topic, so that they reach the code that parses them.
        private static func frames(_ body: Value, on topic: String) -> [[UInt8]] {
            let place = topic.split(separator: ".", maxSplits: 1).map(String.init)
            let (speaker, member): (String, String?) =
                switch place[0] {
                case "sync": ("debouncer", nil)
                case "heartbeat": (place[1], nil)
                case "page", "observed": ("observer", "producer")
                case "pull": ("nobody", "consumer")
                default: ("a-test", nil)
                }
            var body = body
            if let member, var members = body.object {
                members[member] = .string(speaker)
                body = .object(members)
            }
            return [header(version: 1, from: speaker), CBOREncoder.encode(body)]
        }

        /// Frames after the topic that aren't a message.
        private static let malformed: [[[UInt8]]] = [
            [], [[]], [[], []], [[1], [2], [3]],
            [Array("these are words".utf8), Array("and these".utf8)],
            [header(version: 2), CBOREncoder.encode(["head": 1])],
            [header(version: .max), []],
            // An array, a map, a string and a byte string, each a few bytes long but declared as a gigabyte.
            [header(version: 1), [0x9b, 0, 0, 0, 0, 0x40, 0, 0, 0]],
            [header(version: 1), [0xbb, 0, 0, 0, 0, 0x40, 0, 0, 0]],
            [header(version: 1), [0x7b, 0, 0, 0, 0, 0x40, 0, 0, 0]],
            [header(version: 1), [0xd8, 0x4f, 0x5b, 0, 0, 0, 0, 0x40, 0, 0, 0]],
            [[0xbb, 0, 0, 0, 0, 0x40, 0, 0, 0], []],
            [header(version: 1), [UInt8](repeating: 0x81, count: 100_000)],
        ]

        /// Messages that contain nothing a process could act on.
        private static let senseless: [Value] = [
            .null, [:], [1, 2, 3], "words", ["head": "x", "released": [], "last": true, "part": -1],
            [
                "id": .integer(.max), "consumer": "nobody", "query": "samples", "after": .integer(.min),
                "until": .integer(.min),
            ],
            ["id": 1, "consumer": "nobody", "query": "samples", "after": .integer(.max), "until": .integer(.max)],
            ["id": 1, "consumer": "nobody", "query": "samples", "after": 0, "until": .integer(.max)],
            ["id": 1, "consumer": "nobody", "query": "slice"], ["id": 1, "consumer": "nobody", "query": "spans"],
            [
                "id": 1, "consumer": "nobody", "query": "slice", "user": "me", "asOf": .integer(.max),
                "from": .integer(.min),
                "to": .integer(.max), "types": ["include": [1, 2]],
            ],
            ["id": 1, "consumer": "nobody", "query": "types", "store": "s", "generation": "g", "after": 5],
            [
                "id": 2, "producer": "observer", "attempt": 0, "part": 0, "last": true, "error": "refused",
                "reason": "no",
            ],
            ["command": "import", "id": "../../etc/x", "path": "/etc/passwd"],
            ["command": "import", "id": 7, "path": []],
            ["plugin": "observer", "phase": "ready", "pid": .integer(.max), "details": []],
        ]

        private static func memory(of pid: pid_t) throws -> Int {
            let text = try String(contentsOfFile: "/proc/\(pid)/statm", encoding: .utf8)
            return (Int(text.split(separator: " ")[1]) ?? 0) * 4096
        }
    }
}
