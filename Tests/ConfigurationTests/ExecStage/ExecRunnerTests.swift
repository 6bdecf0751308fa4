import Configuration
import ExecDialogue
import ExecStage
import Foundation
import Glibc
import HandlerKit
import HealthModel
import TestSupport
import Testing

/// What a program sends and receives when all is well.
@Suite struct ExecRunnerTests {
    @Test func aDayGoesThereAndBack() throws {
        let handler = try ScriptedHandler(
            hello: "printf '%s\\n' \"$line\" >> reported; " + ScriptedHandler.hello,
            line: "printf '%s\\n' \"$line\" >> reported",
            compute: """
                \(ScriptedHandler.figures)
                echo '{"hourly":{"n":[null,1e-3]},"user":"me","date":"2025-03-26"}'
                echo '{"event":{"id":"a","kind":"night","payload":{"x":"ü"}},"user":"me","date":"2025-03-26"}'
                \(ScriptedHandler.done)
                """)
        #expect(handler.runner.traits.version == 1)
        let expected = DayOutput(
            figures: ["n": 1.5], hourly: ["n": [.null, 0.001]],
            events: [DayEvent(id: "a", kind: "night", payload: ["x": "ü"])])
        #expect(try handler.output(ScriptedHandler.samples(2)) == expected)
        // One program run serves all days.
        #expect(try handler.output() == expected)
        #expect(handler.starts == 1)
        let reported = try handler.text("reported").split(separator: "\n").map { try Value(json: Array($0.utf8)) }
        #expect(reported.count == 6)
        #expect(
            reported[0]["hello"] == [
                "protocol": ["min": 1, "max": 1], "plugin": "test", "instance": "mine", "types": ["T"],
                "configuration": ["depth": 3],
            ])
        let day = reported[1]["day"]
        #expect(day["user"] == "me" && day["date"] == "2025-03-26" && day["configuration"] == ["depth": 3])
        #expect(day["window"] == [[1_742_943_600_000_000, 1_743_030_000_000_000]])
        #expect(day["hours"].array?.count == 24 && day["zones"] == [[.null, "Europe/Berlin"]])
        #expect(day["characteristics"] == ["dateOfBirth": "1986-05-17"])
        let noon: Int64 = 1_742_986_800_000_000
        #expect(
            reported[2]["samples"] == [
                "types": ["T"],
                // Only the sources that these rows use.
                "sources": [["name": "App", "version": "", "productType": "", "device": "", "rank": 3]],
                "type": [0, 0], "source": [0, 0], "start": [.integer(noon), .integer(noon + 1)],
                "end": [.integer(noon + 1_000_000), .integer(noon + 1_000_001)], "value": [0.1, .null],
                "userEntered": [1, 0],
            ])
        #expect(reported[3] == ["compute": "2025-03-26"] && reported[5] == ["compute": "2025-03-26"])
    }

    @Test func manyRowsComeInLinesOfBoundedLength() throws {
        let handler = try ScriptedHandler(
            hello: #"echo '{"hello":{"protocol":1,"name":"test","version":1,"ids":true,"detailedTypes":["T"]}}'"#,
            line: "printf '%s\\n' \"$line\" >> reported", compute: ScriptedHandler.done)
        #expect(handler.runner.traits.detailedTypes == ["T"])
        var samples = ScriptedHandler.samples(5000)
        samples.created = Array(repeating: 12, count: 5000)
        samples.healthKitUUID = Array(repeating: nil, count: 5000)
        samples.healthKitUUID[1] = SampleID(high: 3, low: 4)
        for row in 0..<5000 {
            samples.metadata.append(row == 0 ? "{\"a\":\"\n\"}" : "")
            samples.payload.append(row == 1 ? "{}" : "")
        }
        #expect(try handler.output(samples) == DayOutput())
        let reported = try handler.text("reported").split(separator: "\n").map { try Value(json: Array($0.utf8)) }
        let pages = reported.map { $0["samples"] }.filter { !$0.isNull }
        #expect(pages.map { $0["start"].array?.count } == [2048, 2048, 904])
        let ids = pages.flatMap { $0["id"].array ?? [] }
        #expect(ids == samples.ids.map { .string($0.description) })
        let first = pages[0]
        #expect(first["metadata"].array?.prefix(2) == ["{\"a\":\"\n\"}", .null])
        #expect(first["payload"].array?.prefix(2) == [.null, "{}"])
        #expect(first["created"].array?.prefix(1) == [12])
        #expect(first["uuid"].array?.prefix(2) == [.null, .string(SampleID(high: 3, low: 4).description)])
    }

    @Test func whatItSaysOnStandardErrorIsLogged() async throws {
        let handler = try ScriptedHandler(
            compute: "echo 'loaded = 3 \"models\"' >&2; seq 1 1000 >&2; \(ScriptedHandler.done)")
        _ = try handler.output()
        #expect(try await comes { handler.log.all.contains { $0.hasPrefix("exec.said line=199") } })
        let said = handler.log.all.filter { $0.hasPrefix("exec.said") }
        #expect(said.first == "exec.said line=loaded = 3 \"models\"")
        // A flood of output is cut off.
        #expect(said.count == 200)
        handler.runner.stop()
        #expect(try await comes { handler.log.all.last == "exec.said line=(801 more lines left out)" })
    }

    @Test func itDeclaresWhatAHandlerDeclares() throws {
        let hello = """
            echo '{"hello":{"protocol":1,"name":"test","version":7,"detailedTypes":["T"],"during":{"T":"U"},\
            "characteristics":["dateOfBirth"],"window":{"endHour":18,"beforeSeconds":43200,"afterSeconds":3600}}}'
            """
        let traits = try ScriptedHandler(hello: hello, compute: "", types: ["T", "U"]).runner.traits
        #expect(traits.version == 7 && traits.detailedTypes == ["T"] && traits.during == ["T": "U"])
        #expect(traits.characteristics == ["dateOfBirth"] && !traits.readsIDs)
        let expected = HandlerWindow(endHour: 18, before: .seconds(43_200), after: .seconds(3600))
        #expect(traits.window([:]) == expected)
    }

    @Test func stopClosesItsInputAndWaits() throws {
        let handler = try ScriptedHandler(compute: ScriptedHandler.done, end: "echo > ended")
        _ = try handler.output()
        handler.runner.stop()
        #expect(handler.has("ended"))
    }

    @Test func oneThatDoesntEndIsKilled() throws {
        var limits = ExecLimits()
        limits.grace = 0.2
        let handler = try ScriptedHandler(
            compute: ScriptedHandler.done, end: "trap '' TERM; echo $$ > pid; while :; do sleep 10; done",
            limits: limits)
        _ = try handler.output()
        // Unless it is stopped, the program would run forever.
        handler.runner.stop()
        let pid = try #require(pid_t(handler.text("pid").trimmingCharacters(in: .whitespacesAndNewlines)))
        #expect(!isRunning(pid))
    }
}
