import Changelog
import Client
import Configuration
import Foundation
import HealthModel
import Inspection
import Logging
import Protocol
import StageKit
import Terminal

/// What a replay would do: which days, for whom, and how much work. Changes nothing.
package struct ReplayPlan {
    package enum Start: Sendable, Equatable {
        case day(LocalDay)
        /// One of the observer's sequence numbers, if the replay starts from one.
        case sequence(SequenceNumber)
    }

    private let stack: Stack
    private let reader: StackReader
    private let observing: ObserverQueries
    package let instance: StackConfiguration.Instance
    private let zones: [String: ZoneTimeline]
    /// nil for a replay from a sequence number.
    private let replayed: ReplaySpan?
    /// Local dates with samples, both included; nil for a replay from a sequence number.
    package var days: ClosedRange<LocalDay>? { replayed?.shown }
    private let since: SequenceNumber?
    private let types: TypeChoice

    /// - Throws: `Failure` for anything that can't be replayed, and for times without samples.
    package init(
        _ stack: Stack, instance: StackConfiguration.Instance, from start: Start, through end: LocalDay?, user: String?,
        now: Instant
    ) throws {
        (self.stack, self.instance) = (stack, instance)
        reader = stack.reader()
        observing = try ObserverQueries(stack, reader)
        let kind = instance.manifest.kind
        guard kind == .handler || kind == .consolidator || kind == .uploader else {
            throw Failure.usage(
                "\(instance.name) computes and delivers nothing, so there is nothing to replay",
                hint: "replay a handler, the consolidator or the uploader")
        }
        types =
            kind != .handler
            ? .allExcept([HealthType.workoutIdentifier])
            : instance.manifest.types.contains("*")
                ? .allExcept(stack.configuration.namedTypes.sorted())
                : .only(instance.manifest.sampleTypes)
        var zones = try observing.timelines()
        if let user { zones = [user: try observing.zones(of: user)] }
        self.zones = zones
        if case .sequence(let sequence) = start {
            guard kind != .consolidator else {
                throw Failure.usage(
                    "\(instance.name) can't be replayed from a sequence number: each handler numbers its own",
                    hint: "give a date instead, such as 2025-03-30")
            }
            guard end == nil, user == nil else {
                throw Failure.usage(
                    "a replay from a sequence number takes no --to or --user",
                    hint: "leave them out, or give a date instead")
            }
            since = sequence
            replayed = nil
            return
        }
        since = nil
        guard case .day(let from) = start, let span = try observing.span(of: Array(zones.keys), zones) else {
            throw Failure(
                "nothing has been stored in \(stack.place) yet",
                hint: try NothingYet.advice(stack, reader, user: user))
        }
        guard let replayed = ReplaySpan(from: from, through: end, samples: span) else {
            throw Failure.usage(
                "there are no samples in that time", hint: "they are from \(span.lowerBound) to \(span.upperBound)")
        }
        self.replayed = replayed
    }

    /// Fills in the part of a request that specifies what to do again.
    package func fill(_ request: inout RepairRequest) {
        guard let days = replayed?.days else { return request.since = since ?? .beginning }
        request.from = days.lowerBound.description
        request.through = days.upperBound.description
        request.users = ReplayUsers.spans(from: days.lowerBound, through: days.upperBound, zones)
    }

    package struct Count: Sendable, Equatable {
        package var days: Int
        /// For a handler: its figures and events for these days; for the consolidator: the handlers' figures that it
        /// reads; for the uploader: the elements that it sends. From a sequence number: the samples changed since.
        package var rows: Int
    }

    /// The amount of work, found by reading page by page with the same requests that the replay would send.
    package func count() throws -> Count {
        if let since { return try count(since: since) }
        guard let replayed else { return Count(days: 0, rows: 0) }
        let days = replayed.days
        let range = days.lowerBound.number...days.upperBound.number
        let shown = replayed.shown
        var count = Count(days: (shown.lowerBound.number...shown.upperBound.number).count, rows: 0)
        switch instance.manifest.kind {
        case .handler: count.rows = try rows(of: instance, topic: "", range)
        case .consolidator:
            for handler in stack.configuration.handlers {
                count.rows += try rows(of: handler, topic: "figures.", range)
            }
        default:
            for (user, span) in ReplayUsers.spans(from: days.lowerBound, through: days.upperBound, zones) {
                guard let start = span.first, let end = span.last else { continue }
                count.rows += try observing.count(user: user, types: types, from: start, to: end)
            }
            for handler in stack.configuration.handlers
            where handler.manifest.produces.contains(where: { $0.hasPrefix("events.") }) {
                count.rows += try rows(of: handler, topic: "events.", range)
            }
            if let consolidator = stack.configuration.only(.consolidator) {
                count.rows += try rows(of: consolidator, topic: "daily.summary", range)
            }
        }
        return count
    }

    private func rows(
        of producer: StackConfiguration.Instance, topic: String, _ days: ClosedRange<Int>
    ) throws -> Int {
        var count = 0
        try reader.forEachRow(producer, topic: topic, days: days) { row in
            if zones[row.user] != nil, row.body != nil || instance.manifest.kind == .uploader { count += 1 }
        }
        return count
    }

    private func count(since: SequenceNumber) throws -> Count {
        var touched: Set<String> = []
        var rows = 0
        try observing.changes(types: types, since: since) { page in
            let (samples, users, user) = (page.samples, page.users, page.user)
            rows += samples.count
            for row in 0..<min(samples.count, user.count) where users.indices.contains(Int(user[row])) {
                let name = users[Int(user[row])]
                let (start, end) = (samples.start[row], samples.end[row])
                let counted = SampleTimes.countedEnd(start: start, duration: end &- start)
                for day in zones[name]?.days(touching: samples.startOf(row), end: Instant(microseconds: counted))
                    ?? []
                {
                    touched.insert("\(name)/\(day)")
                }
            }
        }
        return Count(days: touched.count, rows: rows)
    }
}

extension ObserverQueries {
    /// The days from the first sample to the last; nil if there are no samples.
    func span(of users: [String], _ zones: [String: ZoneTimeline]) throws -> ClosedRange<LocalDay>? {
        var span: ClosedRange<LocalDay>?
        let pages = try reader.pages(observer, .types)
        for row in pages.flatMap(\.types) where users.contains(row.user) {
            guard let timeline = zones[row.user], let first = row.firstStart, let last = row.lastEnd else { continue }
            let days = timeline.day(of: first)...timeline.day(of: max(first, last))
            span = span.map { min($0.lowerBound, days.lowerBound)...max($0.upperBound, days.upperBound) } ?? days
        }
        return span
    }

    /// The number of samples that overlap a time span and aren't deleted.
    func count(user: String, types: TypeChoice, from: Instant, to: Instant) throws -> Int {
        var count = 0
        try forEachPage(
            SliceRequest(
                user: user, types: types, asOf: AnchorVector(base: .end), from: from, to: to, detailed: .list([]))
        ) { count += $0.count }
        return count
    }

    /// The changes since a sequence number, page by page.
    func changes(types: TypeChoice, since: SequenceNumber, _ body: (SamplesPage) throws -> Void) throws {
        let held: [Page<TypesPage>] = try reader.pages(observer, .types)
        let head = held.last?.head
        var after = since
        while true {
            let pages = try reader.pages(
                observer, .samples(types), PullPlace(of: head, after: after, until: head?.sequence ?? .end))
            for page in pages { try body(page.content) }
            guard let through = pages.last?.through, through > after else { return }
            after = through
            if let head, after >= head.sequence { return }
        }
    }
}

/// The days of a replay: local dates, both included. Pure.
package struct ReplaySpan: Sendable, Equatable {
    /// What is requested. Days without samples have nothing to compute, but the day after the last may contain the end
    /// of its night.
    package let days: ClosedRange<LocalDay>
    /// The days that people hear about: the same ones, without that day after the last.
    package let shown: ClosedRange<LocalDay>

    /// nil when there are no samples in that time.
    /// - Parameters:
    ///   - last: the last day; nil for the newest.
    ///   - samples: from the first day with a sample to the last.
    package init?(from first: LocalDay, through last: LocalDay?, samples: ClosedRange<LocalDay>) {
        let end = samples.upperBound.adding(days: 1)
        let from = max(first, samples.lowerBound)
        let through = min(last ?? end, end)
        guard from <= through else { return nil }
        days = from...through
        shown = from...max(from, min(through, samples.upperBound))
    }
}

extension ReplayReport {
    /// The maximum number of dates that a sentence lists.
    private static let named = 5

    /// Says which days couldn't be computed; nil if all could be. Their old figures, if any, remain.
    package var failure: Failure? {
        guard let failed, let first = failed.first else { return nil }
        let count = max(failedDays.map { Int($0) } ?? 0, failed.count)
        let hint = "'healthbus doctor' says why"
        guard count > 1 else { return Failure("\(first) couldn't be computed", hint: hint) }
        let names = failed.prefix(Self.named)
        let rest = count - names.count
        return Failure(
            "\(HumanFormat.count(count, "day")) couldn't be computed: \(names.joined(separator: ", "))"
                + (rest > 0 ? " and \(HumanFormat.count(rest)) more" : ""),
            hint: hint)
    }
}
