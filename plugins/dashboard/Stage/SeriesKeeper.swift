import Client
import Configuration
import Foundation
import HealthModel
import Inspection
import Protocol
import Synchronization

/// Follows the consolidator's summaries and keeps their figures as columns, so that a chart of ten years is answered at once. What it keeps is only memory: its
/// anchor begins at 0 with each start.
package final class SeriesKeeper: Sendable {
    /// Summaries that have changed since the first reading.
    package struct Change: Sendable, Equatable {
        package var user: String
        package var days: Set<LocalDay>
    }

    private struct State {
        var people: [String: FigureSeries] = [:]
        var isWhole = false
        var place: StoreHead?
        var through = SequenceNumber.beginning
    }

    private let consolidator: StackConfiguration.Instance
    private let paths: [[String]]
    private let state = Mutex(State())
    private let heard = Mutex<StoreHead?>(nil)
    private let alarm = DispatchSemaphore(value: 0)
    private let isStopped = Mutex(false)

    package init(consolidator: StackConfiguration.Instance, figures: [FigureDeclaration]) {
        self.consolidator = consolidator
        paths = figures.filter { $0.form == .number }.map(\.path)
    }

    /// Reads whenever it is woken.
    /// - Parameters:
    ///   - reader: makes one for each reading.
    ///   - changed: told of what has changed, not of what the first reading found.
    ///   - failed: told why a reading failed; it is tried again.
    package func start(
        _ reader: @escaping @Sendable () -> StackReader, changed: @escaping @Sendable ([Change]) -> Void,
        failed: @escaping @Sendable (any Error) -> Void
    ) {
        let thread = Thread { [self] in
            var isFailing = false
            while !isStopped.withLock({ $0 }) {
                do {
                    let changes = try read(reader())
                    if !changes.isEmpty { changed(changes) }
                    isFailing = false
                } catch {
                    if !isFailing { failed(error) }
                    isFailing = true
                }
                _ = alarm.wait(timeout: .now() + (isFailing ? 2 : 60))
            }
        }
        thread.name = "series"
        thread.start()
    }

    /// Takes what the bus says of summaries, and reads when there is something new. What is asked for makes a producer speak too, so not every heartbeat is
    /// a reason.
    package func hear(_ message: Message) {
        if message.topic == "daily.summary" {
            alarm.signal()
        } else if message.topic == Heartbeat.topic(consolidator.name), let head = Heartbeat(message)?.head {
            let isNew = heard.withLock { heard in
                defer { heard = head }
                return heard != head
            }
            if isNew { alarm.signal() }
        }
    }

    package func stop() {
        isStopped.withLock { $0 = true }
        alarm.signal()
    }

    /// Takes in what is new since the last time.
    package func read(_ reader: StackReader) throws -> [Change] {
        var changes: [String: Set<LocalDay>] = [:]
        let isFirst = !state.withLock { $0.isWhole }
        var (place, through) = state.withLock { ($0.place, $0.through) }
        while true {
            let pages: [Page<ChangesPage>] = try reader.pages(
                consolidator, .changes(topic: "daily.summary"), PullPlace(of: place, after: through))
            guard let last = pages.last else {
                guard place != nil else { break }
                // Another store, or an older copy of it: all is read again.
                (place, through) = (nil, .beginning)
                state.withLock { $0 = State() }
                continue
            }
            state.withLock { state in
                for row in pages.flatMap(\.rows) {
                    guard let number = row.day else { continue }
                    let day = LocalDay(number: number)
                    state.people[row.user, default: FigureSeries(paths)].take(day, row.body)
                    changes[row.user, default: []].insert(day)
                }
                (state.place, state.through) = (last.head, last.through)
            }
            place = last.head
            guard last.through > through else { break }
            through = last.through
        }
        state.withLock { $0.isWhole = true }
        return isFirst ? [] : changes.map { Change(user: $0.key, days: $0.value) }.sorted { $0.user < $1.user }
    }

    /// Of somebody's days; nil while they are read for the first time. Who has none gets empty columns.
    func withSeries<Result>(of user: String, _ body: (inout FigureSeries) -> Result) -> Result? {
        state.withLock { state in
            guard state.isWhole else { return nil }
            return body(&state.people[user, default: FigureSeries(paths)])
        }
    }
}
