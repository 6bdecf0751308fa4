import Changelog
import Client
import Configuration
import Foundation
import HealthModel
import Protocol
import StageKit

/// Counts what a destination hasn't delivered yet: the changes to samples, and the rows of keyed changelogs, that come
/// after its position.
struct BehindCount {
    private let stack: Stack
    private let reader: StackReader
    private let heads: [String: StoreHead]

    /// The maximum number of requests per destination and producer, so that a ten-year store isn't counted to its end.
    private static let requests = 40

    init(_ stack: Stack, _ reader: StackReader, _ beats: Beats) throws {
        (self.stack, self.reader) = (stack, reader)
        var heads: [String: StoreHead] = [:]
        for instance in stack.configuration.instances
        where [.observer, .consolidator, .handler].contains(instance.manifest.kind) {
            heads[instance.name] =
                try beats[instance.name]?.beat.head
                ?? stack.kept(instance.name, reader) { try StageDatabase.readHead(in: $0).head }
        }
        self.heads = heads
    }

    /// nil when the destination's position is unknown.
    func behind(
        _ destination: StackConfiguration.Instance, _ beat: Heartbeat?, _ now: Date
    ) throws -> DestinationReport.Row.Behind? {
        guard let frontier = try beat?.frontier ?? kept(destination), !frontier.isEmpty else { return nil }
        let types = beat?.stage.consumed
        var behind = DestinationReport.Row.Behind(
            samples: 0, isMore: false, documents: 0, files: nil, seconds: nil)
        if destination.manifest.destination?.keeps == .files { behind.files = beat?.stage.pending }
        var oldest: Instant?
        for (name, reached) in frontier {
            guard let head = heads[name], let producer = stack.configuration.instance(name) else { continue }
            // A frontier from an earlier life of the producer's file means nothing.
            let reached = max(reached, head.first.previous)
            guard reached < head.sequence else { continue }
            let isObserver = producer.manifest.kind == .observer
            let found =
                isObserver
                ? try samples(producer, from: types ?? AnchorVector(base: reached), head)
                : try documents(producer, from: reached, head)
            let counted: WritableKeyPath<DestinationReport.Row.Behind, Int> = isObserver ? \.samples : \.documents
            behind[keyPath: counted] += found.count
            behind.isMore = behind.isMore || found.isMore
            let since = found.count > 0 ? try committed(producer, reached) : nil
            if let since { oldest = min(oldest ?? since, since) }
        }
        behind.seconds = oldest.map { max(0, now.timeIntervalSince1970 - $0.secondsSince1970) }
        return behind
    }

    /// The position stored in the file of a destination that sends no heartbeat.
    private func kept(_ destination: StackConfiguration.Instance) throws -> [String: SequenceNumber]? {
        try stack.kept(destination.name, reader) { database in
            var frontier: [String: SequenceNumber] = [:]
            for name in heads.keys { frontier[name] = try Upstream.cursor(name, in: database)?.frontier }
            return frontier
        }
    }

    private func committed(_ producer: StackConfiguration.Instance, _ reached: SequenceNumber) throws -> Instant? {
        try reader.moments(producer, of: [SequenceNumber(reached.value + 1)]).first.flatMap { $0 }
    }

    private func samples(
        _ observer: StackConfiguration.Instance, from anchor: AnchorVector, _ head: StoreHead
    ) throws -> (count: Int, isMore: Bool) {
        var after = anchor
        let until = AnchorVector(base: head.sequence)
        var count = 0
        for _ in 0..<Self.requests {
            let place = PullPlace(store: head.store, generation: head.generation, after: after, until: until)
            let pages = try reader.pages(
                observer, .spans(.allExcept([HealthType.workoutIdentifier])), place)
            guard let last = pages.last?.content.through else { return (count, true) }
            count += pages.reduce(0) { $0 + ($1.content.added ?? 0) + ($1.content.deleted ?? 0) }
            if last >= head.sequence { return (count, false) }
            after = after.advanced(to: last, within: until)
        }
        return (count, true)
    }

    private func documents(
        _ producer: StackConfiguration.Instance, from reached: SequenceNumber, _ head: StoreHead
    ) throws -> (count: Int, isMore: Bool) {
        let topic = producer.manifest.kind == .consolidator ? "daily.summary" : "events."
        var after = reached
        var count = 0
        for _ in 0..<Self.requests {
            let place = PullPlace(of: head, after: after, until: head.sequence)
            let pages = try reader.pages(producer, .changes(topic: topic), place)
            guard let through = pages.last?.content.through, through > after else { return (count, true) }
            count += pages.reduce(0) { $0 + $1.content.rows.count }
            if through >= head.sequence { return (count, false) }
            after = through
        }
        return (count, true)
    }
}
