import Client
import Configuration
import Foundation
import HealthModel
import Inspection
import Protocol

/// `healthbus tap --since`: what has changed since a given point, read from the changelogs themselves, and then each
/// new change as it is committed.
///
/// It has one anchor per changelog, as every consumer does, and asks for what comes after it: each change comes exactly
/// once, in the order of its changelog. A lost hint delays a change by a second, but loses none.
package final class TapReplay {
    package enum Start: Sendable, Equatable {
        case time(Instant)
        /// A sequence number in the changelog of the one instance that was named.
        case sequence(SequenceNumber)
    }

    /// One of an instance's lists of changes, and how far it has been read. The observer has two, which share its
    /// sequence numbers: each advances separately, since something may be committed between reading one and reading the
    /// other.
    private struct Walk {
        let instance: StackConfiguration.Instance
        let query: any Query
        var after: SequenceNumber
        var store: StoreHead?

        func isBehind(_ head: StoreHead) -> Bool { head.sequence > after || head.generation != store?.generation }
    }

    private let stack: Stack
    private let reader: StackReader
    private let filter: TapFilter
    private let showsValues: Bool
    private var walks: [Walk] = []
    private let note: (String) -> Void

    /// - Parameter note: receives anything else that a person should know.
    package init(_ stack: Stack, _ filter: TapFilter, showsValues: Bool, note: @escaping (String) -> Void) {
        (self.stack, self.filter, self.showsValues, self.note) = (stack, filter, showsValues, note)
        reader = stack.reader()
    }

    /// The selected instances that keep a changelog.
    private var instances: [StackConfiguration.Instance] {
        stack.configuration.instances.filter {
            $0.manifest.kind.isStage && $0.name == filter.from ?? $0.name
        }
    }

    /// Prints each change as a message on its own topic: `samples.<type>`, or the row's topic. It ends when `print`
    /// returns false or, for a stack that isn't running, when everything has been read.
    package func run(from start: Start, print: (Message) -> Bool) throws {
        walks = try instances.flatMap { instance in
            let (after, store) = try begin(instance, start)
            return queries(of: instance).map { Walk(instance: instance, query: $0, after: after, store: store) }
        }
        let client = try StackClient(address: try stack.address)
        defer { client.close() }
        for index in walks.indices {
            guard try read(&walks[index], print) else { return }
        }
        guard try instances.contains(where: { try reader.isRunning($0.name) }) else {
            return note("nothing is running in \(stack.place): this is all there is")
        }
        while true {
            client.wait(until: Date(timeIntervalSinceNow: 1))
            let beats = client.heartbeats
            for index in walks.indices {
                guard let head = beats[walks[index].instance.name]?.beat.head, walks[index].isBehind(head) else {
                    continue
                }
                guard try read(&walks[index], print) else { return }
            }
        }
    }

    private func queries(of instance: StackConfiguration.Instance) -> [any Query] {
        guard instance.manifest.kind == .observer else { return [.changes()] }
        return [.changes(), .samples(filter.type.map { .only([$0]) } ?? .allExcept([]))]
    }

    /// The anchor to begin from. A sequence number is one only together with the store that it belongs to.
    private func begin(
        _ instance: StackConfiguration.Instance, _ start: Start
    ) throws -> (after: SequenceNumber, store: StoreHead?) {
        let query: MomentsQuery =
            switch start {
            case .sequence(let sequence): .moments(from: sequence, to: sequence)
            case .time(let time): .newest(before: time)
            }
        let pages = try reader.pages(instance, query)
        if case .sequence(let sequence) = start { return (sequence, pages.last?.head) }
        return (pages.last?.sequence ?? .beginning, pages.last?.head)
    }

    /// Prints everything after the anchor, page by page; returns false when `print` wants no more.
    private func read(_ walk: inout Walk, _ print: (Message) -> Bool) throws -> Bool {
        let instance = walk.instance
        while true {
            let before = walk.after
            let (pages, through) =
                if let query = walk.query as? SamplesQuery {
                    try rows(&walk, query) { try TapRow.rows(of: $0, producer: instance.name) }
                } else {
                    try rows(&walk, .changes(), TapRow.rows)
                }
            for rows in pages {
                for message in try messages(rows, from: instance) where filter.wants(message) {
                    guard print(message) else { return false }
                }
            }
            guard let through, through > before else { return true }
            walk.after = through
        }
    }

    /// The rows of the next pages, and the sequence number that they reach.
    private func rows<Asked: Query>(
        _ walk: inout Walk, _ query: Asked, _ read: (Asked.Answer) throws -> [TapRow]
    ) throws -> (pages: [[TapRow]], through: SequenceNumber?) where Asked.Answer: TappedPage {
        var asked = PullPlace(of: walk.store, after: walk.after)
        asked.bulk = true
        let pages = try reader.pages(walk.instance, query, asked)
        if pages.isEmpty, walk.store != nil {
            note("'\(walk.instance.name)' has begun a new store: everything in it is shown again")
            (walk.after, walk.store) = (.beginning, nil)
            return try rows(&walk, query, read)
        }
        if let head = pages.last?.head { walk.store = head }
        return (try pages.map { try read($0.content) }, pages.last?.content.end)
    }

    private func messages(_ rows: [TapRow], from instance: StackConfiguration.Instance) throws -> [Message] {
        let times = try reader.moments(instance, of: rows.map(\.sequence))
        return zip(rows, times).map { row, time in
            Message(
                topic: row.topic, header: .init(from: instance.name, at: time ?? .epoch),
                body: showsValues ? row.body : Redaction.row(row.body))
        }
    }
}

/// A page whose rows a tap shows.
protocol TappedPage: PageContent {
    /// The sequence number that it reaches.
    var end: SequenceNumber? { get }
}

extension ChangesPage: TappedPage { var end: SequenceNumber? { through } }
extension SamplesPage: TappedPage { var end: SequenceNumber? { through } }
