import Configuration
import Foundation
import Glibc
import HandlerKit
import HealthModel
import TestSupport
import Testing

/// However a program misbehaves, the day fails with a reason, and a working program computes the next day.
@Suite struct ExecFaultTests {
    /// Does `what` only the first time, and then answers as it should.
    private static func once(_ what: String) -> String {
        "if [ ! -e broken ]; then echo > broken; \(what); else \(figures); \(done); fi"
    }
    private static let figures = ScriptedHandler.figures
    private static let done = ScriptedHandler.done

    @Test(arguments: [
        ("exit 3", "ended (exit code 3) before it was done"),
        ("kill -9 $$", "ended (signal 9 (Killed)) before it was done"),
        (#"printf '{"figures":'; exit 0"#, "ended (exit code 0) in the middle of line 1"),
        ("\(figures); printf x; exit 0", "in the middle of line 2"),
        ("echo loading", "line 1 of the program's answer isn't JSON (write nothing else to standard output"),
        ("echo", "line 1 of the program's answer isn't JSON"),
        ("echo 7", "line 1 of the program's answer isn't an object"),
        (#"echo '{"figures":{"n":NaN},"user":"me","date":"2025-03-26"}'"#, "NaN or Infinity"),
        (#"echo '{"figures":{"n":-Infinity},"user":"me","date":"2025-03-26"}'"#, "NaN or Infinity"),
        (#"echo '{"figures":{"n":1e999},"user":"me","date":"2025-03-26"}'"#, "isn't JSON"),
        (#"echo '{"figures":[1],"user":"me","date":"2025-03-26"}'"#, "holds none of figures"),
        (#"echo '{"figure":{},"user":"me","date":"2025-03-26"}'"#, "holds none of figures"),
        (#"echo '{"figures":{},"hourly":{},"user":"me","date":"2025-03-26"}'"#, "holds more than 'figures'"),
        ("\(figures); \(figures)", "line 2 of the program's answer gives figures a second time"),
        (#"echo '{"figures":{"n":1},"user":"me","date":"2025-03-25"}'"#, "has no 'date', or not the day's"),
        (#"echo '{"figures":{"n":1},"user":"you","date":"2025-03-26"}'"#, "has no 'user', or not the day's"),
        (#"echo '{"figures":{"n":1}}'"#, "has no 'user'"),
        (#"echo '{"done":"2025-03-27","user":"me"}'"#, "done with another day"),
        (#"echo '{"done":"2025-03-26","user":"me","figures":{}}'"#, "holds more than 'done'"),
        (#"echo '{"event":{"id":"a","kind":"k"},"user":"me","date":"2025-03-26"}'"#, "an event without"),
        (
            #"for i in 1 2; do echo '{"event":{"id":"a","kind":"k","payload":{}},"user":"me","date":"2025-03-26"}'; done"#,
            "line 2 of the program's answer has an event whose id came before"
        ),
        ("head -c 40000 /dev/zero | tr '\\0' '['; echo", "is nested deeper than 16"),
        ("head -c 3000000 /dev/zero | tr '\\0' x", "is longer than 262144 bytes"),
    ])
    func theDayFailsAndTheNextOneHasAFreshProgram(_ what: String, _ words: String) throws {
        let handler = try ScriptedHandler(compute: Self.once(what))
        let reason = try handler.reason()
        #expect(reason.contains(words), "\(reason)")
        #expect(try handler.output().figures == ["n": 1.5])
        #expect(handler.starts == 2)
        #expect(handler.log.all.contains { $0.hasPrefix("exec.dropped why=") && $0.contains(words) })
    }

    @Test func aDayThatTakesTooLongIsEndedWithAllThatTheProgramStarted() async throws {
        var limits = ExecLimits()
        limits.day = 0.5
        let handler = try ScriptedHandler(
            compute: Self.once("sleep 100 & echo $! > child; while :; do sleep 100; done"), limits: limits)
        #expect(try handler.reason() == "the program gave no answer within 0.5 s and was ended")
        let child = try #require(pid_t(handler.text("child").trimmingCharacters(in: .whitespacesAndNewlines)))
        // The child's parent is gone, and the process that adopted the child has yet to reap it.
        #expect(try await comes { !isRunning(child) })
        #expect(try handler.output().figures == ["n": 1.5])
    }

    @Test func onlyWhoWasSentEverythingMayBeDone() throws {
        // More than fits into a pipe: the rest can't be written while the program is asleep.
        let handler = try ScriptedHandler(
            line:
                "case $line in '{\"day\"'*) if [ ! -e broken ]; then echo > broken; \(Self.done); sleep 100; fi;; esac",
            compute: Self.done)
        #expect(try handler.reason(ScriptedHandler.samples(20_000)).contains("before it was asked to compute"))
        _ = try handler.output()
    }

    @Test func oneThatClosesItsInputIsNotDone() throws {
        // The answer comes after the rest of the day can no longer be written.
        let close = "echo > broken; exec <&-; sleep 0.2; \(Self.figures); \(Self.done); sleep 100"
        let handler = try ScriptedHandler(
            line: "case $line in '{\"day\"'*) if [ ! -e broken ]; then \(close); fi;; esac", compute: Self.done)
        #expect(try handler.reason(ScriptedHandler.samples(20_000)).contains("before it was asked to compute"))
        _ = try handler.output()
        #expect(handler.starts == 2)
    }

    /// The unread part of one day must not be taken for the beginning of the next.
    @Test(arguments: [
        (#"echo '{"error":"too many"}'; sleep 100"#, "the program says: too many"), ("exit 3", "ended (exit code 3)"),
    ])
    func oneThatStopsReadingIsDropped(_ what: String, _ words: String) throws {
        let handler = try ScriptedHandler(
            line: "case $line in '{\"day\"'*) if [ ! -e broken ]; then echo > broken; \(what); fi;; esac",
            compute: Self.done)
        #expect(try handler.reason(ScriptedHandler.samples(20_000)).contains(words))
        _ = try handler.output()
        #expect(handler.starts == 2)
    }

    @Test func whatFollowsDoneIsNeverTheNextDays() async throws {
        let handler = try ScriptedHandler(
            compute:
                "\(Self.figures); \(Self.done); if [ ! -e broken ]; then echo > broken; \(Self.figures); fi; echo > said"
        )
        // The day itself isn't affected.
        #expect(try handler.output().figures == ["n": 1.5])
        #expect(try await comes { handler.has("said") })
        #expect(try handler.output().figures == ["n": 1.5])
        #expect(handler.starts == 2)
        #expect(handler.log.all.contains { $0.contains("a day it wasn't asked for") })
    }

    @Test func oneThatEndsBetweenDaysCostsNoDay() async throws {
        let handler = try ScriptedHandler(
            compute: "if [ ! -e broken ]; then echo $$ > broken; \(Self.done); exit 0; fi; \(Self.done)")
        _ = try handler.output()
        let pid = try #require(pid_t(handler.text("broken").trimmingCharacters(in: .whitespacesAndNewlines)))
        #expect(try await comes { !isRunning(pid) })
        _ = try handler.output()
        #expect(handler.starts == 2)
    }

    @Test func itMaySayThatADayCantBeComputed() throws {
        let handler = try ScriptedHandler(compute: Self.once(#"echo '{"error":"two nights in one"}'"#))
        #expect(try handler.reason() == "the program says: two nights in one")
        _ = try handler.output()
        // This isn't misbehaviour.
        #expect(handler.starts == 1)
    }

    @Test func oneThatNoLongerStartsEndsTheHost() throws {
        let hello = "[ -e broken ] && exit 4; \(ScriptedHandler.hello)"
        let handler = try ScriptedHandler(hello: hello, compute: "echo > broken; exit 3")
        _ = try handler.reason()
        guard case .unavailable(let error) = try handler.ask() else { throw ScriptedHandler.Unexpected() }
        #expect("\(error)".contains("exit code 4"))
        #expect(handler.starts == 4)
    }

    @Test func oneThatIsReplacedWhileItRunsEndsTheHost() throws {
        let hello = """
            if [ -e broken ]; then echo '{"hello":{"protocol":1,"name":"test","version":2}}'
            else \(ScriptedHandler.hello); fi
            """
        let handler = try ScriptedHandler(hello: hello, compute: "echo > broken; exit 3")
        _ = try handler.reason()
        guard case .unavailable(let error) = try handler.ask() else { throw ScriptedHandler.Unexpected() }
        #expect("\(error)".contains("describes itself differently"))
    }

    @Test(arguments: [
        ("exit 3", "ended (exit code 3)"),
        ("echo hello", "isn't JSON"),
        (
            #"echo '{"hello":{"protocol":2,"name":"test","version":1}}'"#,
            "speaks protocol 2; this release speaks 1 to 1"
        ),
        (#"echo '{"hello":{"protocol":1,"name":"other","version":1}}'"#, "must be 'test'"),
        (#"echo '{"hello":{"protocol":1,"name":"test"}}'"#, "'hello.version' must be a whole number"),
        (#"echo '{"hello":{"protocol":1,"name":"test","version":1,"types":[]}}'"#, "'hello.types' isn't known"),
        (#"echo '{"hello":{"protocol":1,"name":"test","version":1,"window":{"endHour":25}}}'"#, "at most 24"),
        (#"echo '{"hello":{"protocol":1,"name":"test","version":1,"detailedTypes":["U"]}}'"#, "names U, which"),
        (#"echo '{"figures":{}}'"#, "holds no object 'hello'"),
        (#"echo '{"error":"no depth 3"}'"#, "refuses its configuration: no depth 3"),
    ])
    func oneThatDoesntGreetIsRefused(_ hello: String, _ words: String) throws {
        let error = #expect(throws: (any Error).self) { try ScriptedHandler(hello: hello, compute: Self.done) }
        #expect(error.map { "\($0)".contains(words) } == true, "\(String(describing: error))")
        #expect(error.map { "\($0)".contains("/plugin.json") } == true)
    }

    @Test func aSlowStartHasADeadline() throws {
        var limits = ExecLimits()
        limits.start = 0.3
        let error = #expect(throws: (any Error).self) {
            try ScriptedHandler(hello: "sleep 100", compute: Self.done, limits: limits)
        }
        #expect(error.map { "\($0)".contains("no answer within 0.3 s") } == true)
    }
}
