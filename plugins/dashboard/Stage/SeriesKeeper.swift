import Client
import Clocks
import Configuration
import Doctor
import Figures
import Foundation
import HealthModel
import Protocol
import Synchronization

/// Follows the consolidator's summaries and keeps their figures as columns, so that a request for a ten-year chart is
/// answered at once, after a short request for what is new. It keeps them only in memory: its anchor starts from 0 each
/// time.
package final class SeriesKeeper: Sendable {
    /// Summaries that have changed since the first read.
    package struct Change: Sendable, Equatable {
        package var user: String
        package var days: Set<LocalDay>
    }

    private struct State {
        var shelf: SeriesShelf
        var isWhole = false
        var place: StoreHead?
        var through = SequenceNumber.beginning

        init(_ paths: [[String]]) { shelf = SeriesShelf(paths) }
    }

    private let consolidator: StackConfiguration.Instance
    private let paths: [[String]]
    private let state: Mutex<State>
    private let heard = Mutex<StoreHead?>(nil)
    private let alarm = DispatchSemaphore(value: 0)
    private let isStopped = Mutex(false)
    private let pace = Mutex(ReadingPace())
    private let reading = FreshRead()
    private let surroundings = Mutex<Surroundings?>(nil)

    package init(consolidator: StackConfiguration.Instance, figures: [FigureDeclaration]) {
        self.consolidator = consolidator
        paths = figures.filter { $0.form == .number }.map(\.path)
        state = Mutex(State(paths))
    }

    /// What it depends on: a way to read, and functions to call.
    package struct Surroundings: Sendable {
        /// Makes a reader for each read.
        package var reader: @Sendable () -> StackReader
        /// Whether somebody has a page open.
        package var isWatched: @Sendable () -> Bool
        /// Called with what has changed, except for what the first read found.
        package var changed: @Sendable ([Change]) -> Void
        /// Called once, with the reason, when reads begin to fail; they are retried.
        package var failed: @Sendable (any Error) -> Void

        package init(
            reader: @escaping @Sendable () -> StackReader, isWatched: @escaping @Sendable () -> Bool,
            changed: @escaping @Sendable ([Change]) -> Void, failed: @escaping @Sendable (any Error) -> Void
        ) {
            (self.reader, self.isWatched, self.changed, self.failed) = (reader, isWatched, changed, failed)
        }
    }

    /// Reads from now on, at its own pace.
    package func start(_ surroundings: Surroundings) {
        self.surroundings.withLock { $0 = surroundings }
        Thread.begin("series") { [self] in
            while !isStopped.withLock({ $0 }) {
                let isWatched = surroundings.isWatched()
                let wait = pace.withLock { $0.wait(isWatched: isWatched, at: MonotonicClock.now) }
                if wait > .zero { _ = alarm.wait(timeout: .now() + wait.seconds) } else { readOnce(surroundings) }
            }
        }
    }

    /// - Returns: whether everything that was there when this was called has been read.
    @discardableResult
    private func readOnce(_ surroundings: Surroundings) -> Bool {
        reading.call {
            let newSince = pace.withLock { $0.begin() }
            do {
                let changes = try read(surroundings.reader())
                pace.withLock { $0.read(at: MonotonicClock.now) }
                if !changes.isEmpty { surroundings.changed(changes) }
                return true
            } catch {
                let isFirst = pace.withLock { pace in
                    defer { pace.failed(at: MonotonicClock.now, newSince: newSince) }
                    return !pace.isFailing
                }
                if isFirst { surroundings.failed(error) }
                return false
            }
        }
    }

    /// Reads what is new, whether or not a message has announced it, so that whoever asks sees what the commands show
    /// at that moment.
    /// - Returns: false if the consolidator doesn't answer. While it doesn't, nobody else waits for it.
    private func catchUp() -> Bool {
        guard let surroundings = surroundings.withLock({ $0 }), state.withLock({ $0.isWhole }),
            !pace.withLock({ $0.isSilent })
        else { return false }
        return readOnce(surroundings)
    }

    /// Whether the consolidator didn't answer the last time.
    var isFailing: Bool { pace.withLock { $0.isFailing } }

    /// Somebody has begun to look: whatever waits to be read until then is read now.
    package func look() { alarm.signal() }

    /// Follows the bus's messages about summaries. Producers also send a heartbeat when asked, so a heartbeat doesn't
    /// always mean that something is new.
    package func hear(_ message: Message) {
        if message.topic == "daily.summary" {
            somethingIsNew()
        } else if message.topic == Heartbeat.topic(consolidator.name), let head = Heartbeat(message)?.head {
            let isNew = heard.withLock { heard in
                defer { heard = head }
                return heard != head
            }
            pace.withLock { $0.back() }
            if isNew { somethingIsNew() } else if pace.withLock({ $0.isFailing }) { alarm.signal() }
        }
    }

    private func somethingIsNew() {
        pace.withLock { $0.heard(at: MonotonicClock.now) }
        alarm.signal()
    }

    package func stop() {
        isStopped.withLock { $0 = true }
        alarm.signal()
    }

    /// Reads what is new since the last time.
    package func read(_ reader: StackReader) throws -> [Change] {
        var changes: [String: Set<LocalDay>] = [:]
        let isFirst = !state.withLock { $0.isWhole }
        while true {
            let (place, through) = state.withLock { ($0.place, $0.through) }
            let isSame = try walk(reader, of: place, after: through) { rows, head, through in
                state.withLock { state in
                    for (row, day) in rows {
                        state.shelf.take(row.user, day, row.body)
                        changes[row.user, default: []].insert(day)
                    }
                    (state.place, state.through) = (head, through)
                }
            }
            if isSame || place == nil { break }
            // It is a different store, or an older copy: everything is read again.
            state.withLock { $0 = State(paths) }
        }
        let missing = state.withLock { state in
            state.isWhole = true
            return state.shelf.missing
        }
        if !missing.isEmpty { try readAgain(missing, reader) }
        return isFirst
            ? [] : changes.map { Change(user: $0.key, days: $0.value) }.sorted { $0.user < $1.user }
    }

    /// Reads everything from the beginning, for people whose columns weren't kept. Changes in the meantime are picked
    /// up by the next read.
    private func readAgain(_ people: Set<String>, _ reader: StackReader) throws {
        let isComplete = try walk(reader, of: nil, after: .beginning) { rows, _, _ in
            state.withLock { state in
                for (row, day) in rows where people.contains(row.user) { state.shelf.take(row.user, day, row.body) }
            }
        }
        // Otherwise it is a different store: the next read finds that out, and starts over.
        if isComplete { state.withLock { $0.shelf.complete(people) } }
    }

    /// Calls `take` with the summaries after `after`, up to the head, a few pages at a time, and with the position that
    /// they reach.
    /// - Returns: false when the store isn't the one that `after` belongs to.
    private func walk(
        _ reader: StackReader, of head: StoreHead?, after: SequenceNumber,
        _ take: ([(row: ChangedRow, day: LocalDay)], StoreHead?, SequenceNumber) -> Void
    ) throws -> Bool {
        var (head, after) = (head, after)
        while true {
            let pages = try reader.pages(
                consolidator, .changes(topic: "daily.summary"), PullPlace(of: head, after: after))
            guard let last = pages.last else { return false }
            let rows = pages.flatMap(\.rows).compactMap { row in
                row.day.map { (row: row, day: LocalDay(number: $0)) }
            }
            take(rows, last.head, last.through)
            guard last.through > after else { return true }
            (head, after) = (last.head, last.through)
        }
    }

    /// Calls `body` with the columns of a person's days.
    /// - Returns: nil while they are being read, and if they can't be brought up to date.
    func withSeries<Result: Sendable>(of user: String, _ body: (inout FigureSeries) -> Result) -> Result? {
        guard catchUp() else { return nil }
        return withKept(of: user, body)
    }

    /// Calls `body` with the columns as they are, which may be older than what the stack holds; nil while they are
    /// being read.
    func withKept<Result: Sendable>(of user: String, _ body: (inout FigureSeries) -> Result) -> Result? {
        let (result, isMissing) = state.withLock { state in
            guard state.isWhole else { return (Result?.none, false) }
            let result = state.shelf.withSeries(of: user, body)
            return (result, result == nil)
        }
        if isMissing { somethingIsNew() }
        return result
    }
}
