import CPosix
import Client
import Clocks
import Configuration
import Foundation
import Glibc
import HealthModel
import Inspection
import Logging
import MessageBus
import Terminal

/// Examines a running stack repeatedly.
package final class TopLoop {
    private let stack: Stack
    private let client: StackClient
    private let interval: Duration

    /// - Parameter interval: the seconds between two samples.
    package init(_ stack: Stack, interval: Double) throws {
        self.stack = stack
        self.interval = .seconds(interval)
        client = try StackClient(address: stack.address)
    }

    deinit { client.close() }

    /// The stack's current state: every process is asked, so that its report is current.
    private func look() -> TopSample {
        let asked = MonotonicClock.now
        client.hello()
        let wanted = client.heartbeats.filter { $0.value.age < Repetition.silence.seconds }.keys
        while MonotonicClock.now < asked + .milliseconds(100) {
            let beats = client.heartbeats
            // The hub answers no questions: it reports at its own pace, at rest every 12 s.
            let isHeard = wanted.allSatisfy { name in
                name == stack.hub || beats[name].map { $0.age < (MonotonicClock.now - asked).seconds } ?? false
            }
            if isHeard, !wanted.isEmpty { break }
            client.wait(until: Date(timeIntervalSinceNow: 0.01))
        }
        return TopSample(
            names: stack.names, beats: client.heartbeats, now: WallClock.now, monotonic: MonotonicClock.now)
    }

    /// One table, for one interval.
    package func once() -> TopTable {
        client.gather(stack.names, within: 1.5)
        let before = look()
        Thread.sleep(forTimeInterval: interval.seconds)
        return TopTable(look().following(before))
    }

    /// One table per interval, until `print` returns false.
    package func run(print: (TopTable) -> Bool) {
        client.gather(stack.names, within: 1.5)
        var before: TopSample?
        while true {
            let now = look()
            let sample = before.map { now.following($0) } ?? now
            if before != nil, !print(TopTable(sample)) { return }
            before = sample
            Thread.sleep(forTimeInterval: interval.seconds)
        }
    }

    /// Draws on the whole screen until `q`, Ctrl-C or a termination signal. The terminal is left as it was found.
    /// - Throws: `Failure` when signals can't be caught.
    package func run(on screen: Screen) throws {
        let signals = healthbus_catch_screen_signals()
        guard signals >= 0 else { throw Failure("can't catch signals: \(String(cString: strerror(-signals)))") }
        defer { healthbus_release_signals() }
        screen.enter()
        defer { screen.leave() }
        client.gather(stack.names, within: 0.3)
        var before: TopSample?
        var table: TopTable?
        var nextLook = MonotonicTime.distantPast
        while true {
            if MonotonicClock.now >= nextLook {
                let now = look()
                let sample = before.map { now.following($0) } ?? now
                table = TopTable(sample)
                before = sample
                nextLook = MonotonicClock.now + interval
            }
            if let table { draw(table, on: screen) }
            wait(for: signals, keysOf: screen, until: nextLook)
            for signal in Self.take(signals) {
                switch signal {
                case SIGWINCH, SIGCONT: break
                case SIGTSTP:
                    screen.leave()
                    healthbus_suspend()
                    screen.enter()
                default: return
                }
            }
            guard let keys = screen.keys(), !keys.contains(where: Self.enders.contains) else { return }
        }
    }

    /// q, Q, and Ctrl-C if the terminal doesn't turn it into a signal.
    private static let enders: Set<UInt8> = [UInt8(ascii: "q"), UInt8(ascii: "Q"), 3]

    private func draw(_ table: TopTable, on screen: Screen) {
        let size = screen.size
        var terminal = Terminal(.output)
        terminal.width = size.columns
        screen.draw(TopView(table, state: stack.state.path).lines(for: terminal, height: size.lines))
    }

    private func wait(for signals: Int32, keysOf screen: Screen, until deadline: MonotonicTime) {
        var watched = [pollfd(fd: signals, events: Int16(POLLIN), revents: 0)]
        if screen.hasKeys { watched.append(pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)) }
        poll(&watched, nfds_t(watched.count), Int32(max(.zero, deadline - MonotonicClock.now).microseconds / 1000 + 1))
    }

    private static func take(_ signals: Int32) -> [Int32] {
        var room = [UInt8](repeating: 0, count: 64)
        let count = read(signals, &room, room.count)
        return room.prefix(max(0, count)).map { Int32($0) }
    }
}
