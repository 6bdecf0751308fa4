import Changelog
import Client
import Configuration
import DeliveryKit
import HealthModel
import Protocol
import StageKit
import UploaderReading

/// Compares what a running stack has delivered with what its backend keeps, by id, version and content.
///
/// Samples are first folded by day, and only days that differ are examined id by id, a limited number at a time, so
/// memory use stays flat however many there are. The progress of delivery is read before the backend and the store, so
/// that changes made in the meantime are never mistaken for missing elements.
package final class Verification {
    /// How many rows have been read, and how many there are in total.
    package typealias Progress = (_ done: Int, _ total: Int) -> Void

    package let stack: Stack
    /// The destination whose backend is asked.
    package let destination: StackConfiguration.Instance
    let scope: Scope
    let now: Instant
    let reader: StackReader
    private let observing: ObserverQueries
    private let progress: Progress
    private let tell: @Sendable (String) -> Void
    private var done = 0
    private var total = 0

    /// How many rows are examined in one pass over the days that differ.
    private static let rowsPerWalk = 200_000

    /// - Parameters:
    ///   - destination: its name; nil for the only one that delivers over HTTP.
    ///   - tell: called with what the comparison is waiting for, if that takes a long time.
    /// - Throws: `Failure` if there is no such destination, or if there are several.
    package init(
        _ stack: Stack, of destination: String? = nil, _ scope: Scope, now: Instant,
        tell: @escaping @Sendable (String) -> Void = { _ in },
        progress: @escaping Progress = { _, _ in }
    ) throws {
        self.tell = tell
        self.destination = try stack.destination(destination, toBe: "verified") { $0.manifest.isHTTPDestination }
        try stack.requireRunning()
        self.stack = stack
        self.scope = scope
        self.now = now
        self.progress = progress
        reader = stack.reader()
        observing = try ObserverQueries(stack, reader)
    }

    package func run() throws -> VerifyReport {
        let all = try observing.allZones()
        var zones = all
        if let user = scope.user { zones = [user: try observing.zones(of: user)] }
        let store = try StoreVersions(stack, reader, of: destination)
        let backend = try BackendVersions(stack, of: destination, tell: tell)
        let refusals = try refusals()
        var report = VerifyReport(
            address: backend.address, destination: destination.name, from: scope.from, to: scope.to)
        for (user, timeline) in zones.sorted(by: { $0.key < $1.key }) {
            let counts = try store.count(of: user)
            (done, total) = (0, 2 * counts.samples)
            var part = VerifyReport.User(name: user, quarantined: counts.quarantined)
            let refused = refusals[user] ?? [:]
            try compareSamples(user, scope.span(in: timeline), store, backend, refused, &part, &report.again)
            try compareDocuments(user, store, backend, refused, &part, &report.again)
            report.users.append(part)
        }
        report.comparesContents = backend.tellsContents
        return report
    }

    private func step() {
        done += 1
        if done % 1024 == 0 { progress(done, max(done, total)) }
    }

    // MARK: Samples

    private func compareSamples(
        _ user: String, _ span: Range<Instant>, _ store: StoreVersions, _ backend: BackendVersions,
        _ refused: [String: Refusal], _ part: inout VerifyReport.User, _ again: inout [String: [SequenceNumber]]
    ) throws {
        var samples = VerifyReport.List()
        var byType: [Int: VerifyReport.List] = [:]
        var fold = VersionFold(now: now)
        let range = IDRange(span)
        let twice = try foldTheirs(user, range, backend, &fold, &samples)
        var twins = try Twins(twice) { take in
            try backend.forEach("samples", user: user, after: range.before) { row in
                guard range.isBelowEnd(row.id) else { return false }
                if !row.isDeleted { take(row) }
                return true
            }
        }
        try store.forEachSample(user: user, withContents: backend.tellsContents) { sample in
            step()
            guard range.holds(sample.id) else { return }
            if store.isPending(sample) {
                let finding: VerifyFinding = store.isOff(sample) ? .off : .pending
                byType[sample.type, default: .init()].note(finding, sample.id.description)
                return
            }
            byType[sample.type, default: .init()].here += 1
            fold.add(sample.id, sample.held, .ours)
            if !sample.held.isDeleted { twins.isHere(sample.id) }
        }
        for id in twins.doubled { samples.note(.doubled, id) }
        if twice.isFull { samples.isDoubledCut = true }
        let refusals = Refusal.samples(refused)
        for batch in fold.differing(rows: Self.rowsPerWalk) {
            try compare(
                batch, fold, user, range, store, backend, refusals,
                found: { finding, id, sample in
                    if let sample {
                        byType[sample.type, default: .init()].note(finding, id.description)
                        // The sample was already counted as delivered above.
                        if finding.isUndelivered { byType[sample.type, default: .init()].here -= 1 }
                        if finding.isRepairable { again[stack.observer, default: []].append(sample.sequence) }
                    } else {
                        samples.note(finding, id.description)
                    }
                })
        }
        for (type, list) in byType { samples.add(list, as: store.types[type]) }
        part.lists["samples"] = samples
    }

    /// Folds what the backend keeps, and returns the contents that occurred more than once.
    private func foldTheirs(
        _ user: String, _ range: IDRange, _ backend: BackendVersions, _ fold: inout VersionFold,
        _ samples: inout VerifyReport.List
    ) throws -> SeenTwice {
        var twice = SeenTwice()
        try backend.forEach("samples", user: user, after: range.before) { row in
            step()
            guard range.isBelowEnd(row.id) else { return false }
            samples.there += 1
            if let id = row.id {
                fold.add(id, row.held, .theirs)
            } else if !row.isDeleted {
                samples.note(.beyond, row.text)
            }
            if let content = row.content, !row.isDeleted { twice.add(content) }
            return true
        }
        return twice
    }

    /// Examines some days id by id. A finding without a sample concerns something that only the backend has.
    private func compare(
        _ batch: [Int], _ fold: VersionFold, _ user: String, _ range: IDRange, _ store: StoreVersions,
        _ backend: BackendVersions, _ refusals: [SampleID: Refusal],
        found: (VerifyFinding, SampleID, StoreVersions.Sample?) -> Void
    ) throws {
        var isMeant = [Bool](repeating: false, count: fold.buckets.count)
        for bucket in batch { isMeant[bucket] = true }
        var ours: [StoreVersions.Sample] = []
        try store.forEachSample(user: user, withContents: backend.tellsContents) { sample in
            if range.holds(sample.id), isMeant[fold.bucket(of: sample.id)] { ours.append(sample) }
        }
        ours.sort { $0.id < $1.id }
        var next = 0
        func judge(_ sample: StoreVersions.Sample, _ theirs: HeldVersion?) {
            // A pending sample is already counted; what the backend has by now doesn't matter.
            if store.isPending(sample) { return }
            guard let finding = VerifyFinding.of(sample.held, theirs, refusal: refusals[sample.id]) else { return }
            found(store.isOff(sample) && finding != .deadLetter ? .off : finding, sample.id, sample)
        }
        for days in Self.runs(batch) {
            let last = fold.ids(of: days.upperBound).last
            let start = [fold.ids(of: days.lowerBound).after, range.before].compactMap { $0 }.max()
            // Expects one row beyond those of the days: it shows that they are complete.
            let expected = days.reduce(1) { $0 + fold.buckets[$1].theirs }
            try backend.forEach("samples", user: user, after: start, expected: expected) { row in
                guard let id = row.id else { return true }
                guard id <= last, range.isBelowEnd(id) else { return false }
                while next < ours.count, ours[next].id < id {
                    judge(ours[next], nil)
                    next += 1
                }
                if next < ours.count, ours[next].id == id {
                    judge(ours[next], row.held)
                    next += 1
                } else if !row.isDeleted {
                    found(.beyond, id, nil)
                }
                return true
            }
            while next < ours.count, ours[next].id <= last {
                judge(ours[next], nil)
                next += 1
            }
        }
    }

    /// Neighbouring days as ranges.
    private static func runs(_ days: [Int]) -> [ClosedRange<Int>] {
        var runs: [ClosedRange<Int>] = []
        for day in days {
            if let last = runs.last, last.upperBound == day - 1 {
                runs[runs.count - 1] = last.lowerBound...day
            } else {
                runs.append(day...day)
            }
        }
        return runs
    }
}

/// The ids of samples that begin in a time range, judging by the ids' first 48 bits.
struct IDRange {
    private let first: UInt64
    /// Exclusive; nil if there is no end.
    private let end: UInt64?

    init(_ span: Range<Instant>) {
        first = span.lowerBound <= .epoch ? 0 : UInt64(span.lowerBound.microseconds / 1000) << 16
        end = span.upperBound == .distantFuture ? nil : UInt64(max(0, span.upperBound.microseconds / 1000)) << 16
    }

    /// The last id before the range; nil if there is none.
    var before: SampleID? { first == 0 ? nil : SampleID(high: first - 1, low: .max) }

    func holds(_ id: SampleID) -> Bool { id.high >= first && isBelowEnd(id) }

    /// Ids that aren't UUIDs come first, and are received only if reading begins at the beginning.
    func isBelowEnd(_ id: SampleID?) -> Bool {
        guard let end, let id else { return true }
        return id.high < end
    }
}

/// The samples with equal content at the backend. If the store has just as many, the source itself has duplicates.
private struct Twins {
    private struct Copy {
        var id: SampleID?
        var text: String
        var isHere = false
    }

    private var copies: [Int64: [Copy]] = [:]
    private var contents: [SampleID: Int64] = [:]

    /// - Parameter read: reads all of the backend's undeleted samples a second time; not called if there were no
    ///   duplicates.
    init(_ twice: SeenTwice, read: ((BackendVersions.Row) -> Void) throws -> Void) rethrows {
        guard !twice.candidates.isEmpty else { return }
        var found: [Int64: [Copy]] = [:]
        try read { row in
            guard let content = row.content, twice.candidates.contains(content) else { return }
            found[content, default: []].append(Copy(id: row.id, text: row.text))
        }
        copies = found.filter { $0.value.count > 1 }
        for (content, group) in copies {
            for copy in group { if let id = copy.id { contents[id] = content } }
        }
    }

    mutating func isHere(_ id: SampleID) {
        guard !contents.isEmpty, let content = contents[id],
            let index = copies[content]?.firstIndex(where: { $0.id == id })
        else { return }
        copies[content]?[index].isHere = true
    }

    /// The ids of superfluous copies: those that the store doesn't have, or all but one if it has none of the group.
    var doubled: [String] {
        copies.values.flatMap { group in
            let strangers = group.filter { !$0.isHere }
            return strangers.dropFirst(strangers.count == group.count ? 1 : 0).map { $0.id?.description ?? $0.text }
        }.sorted()
    }
}
