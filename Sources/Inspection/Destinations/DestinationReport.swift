import Changelog
import Client
import Configuration
import DeliveryKit
import Foundation
import HealthModel
import Protocol
import Terminal

/// `healthbus destinations`: where the stack delivers to, and how far behind each destination is. Works on a stopped
/// stack too.
package struct DestinationReport {
    package struct Row: Codable, Sendable, Equatable {
        /// What exists but hasn't been delivered yet.
        package struct Behind: Codable, Sendable, Equatable {
            /// The number of changes to samples: those that were added, changed or deleted.
            package var samples: Int
            /// Whether there is more, of these or of `documents`, than was counted.
            package var isMore: Bool
            /// Days, nights and workouts that changed, and any other sequenced rows of producers.
            package var documents: Int
            /// The number of files that have yet to be written; null if the destination keeps none. The newest files
            /// are written first, so samples count as not delivered until the oldest file is written.
            @OrNull package var files: Int?
            /// The number of seconds for which the oldest change has been waiting; null if none is.
            @OrNull package var seconds: Double?

            package var isLevel: Bool { samples == 0 && documents == 0 }
        }

        package var name: String
        package var plugin: String
        package var place: String
        package var state: String
        /// Null while unknown.
        @OrNull package var behind: Behind?
        /// The current number of elements per second; null if that wasn't measured.
        @OrNull package var rate: Double?
        /// The number of elements so far; an element that changed counts each time it was delivered.
        package var delivered: Int64
        @OrNull package var lastDelivered: String?
        /// Whether nothing proves that the destination keeps what it accepted.
        package var onTrust: Bool
        package var deadLetters: Int64
        /// Why delivery waits; null if it doesn't.
        @OrNull package var blocked: String?
        /// Why the destination's content can't be compared, although there may be nothing to deliver; null if it can,
        /// and while `blocked` says why.
        @OrNull package var unreachable: String?
        /// When what it keeps was last compared with what was delivered; null while it wasn't, or is unknown.
        @OrNull package var proof: ReportedProof?

        package init(
            name: String, plugin: String, place: String, state: String, behind: Behind?, rate: Double?,
            delivered: Int64, lastDelivered: String?, onTrust: Bool = false, deadLetters: Int64, blocked: String?,
            unreachable: String?, proof: ReportedProof? = nil
        ) {
            (self.name, self.plugin, self.place, self.state, self.behind) = (name, plugin, place, state, behind)
            (self.rate, self.delivered, self.lastDelivered) = (rate, delivered, lastDelivered)
            (self.onTrust, self.deadLetters, self.blocked) = (onTrust, deadLetters, blocked)
            (self.unreachable, self.proof) = (unreachable, proof)
        }
    }

    package private(set) var rows: [Row]
    private let now: Date

    package var value: Value { .array(rows.map { Value($0) }) }

    package init(rows: [Row], now: Date) { (self.rows, self.now) = (rows, now) }

    /// - Parameter rateOver: the number of seconds over which to measure the rate of destinations that are behind; 0 to
    ///   skip measuring.
    package init(_ stack: Stack, now: Date, rateOver: Double = 0) throws {
        let reader = stack.reader()
        var beats: Beats = [:]
        if try stack.names.contains(where: { try reader.isRunning($0) }) {
            beats = try reader.gather(stack.names, within: 1.5)
        }
        try self.init(stack, reader, beats, now: now)
        let moving = rows.indices.filter { rows[$0].behind?.isLevel == false && beats[rows[$0].name] != nil }
        if rateOver > 0, !moving.isEmpty {
            let before = moving.map { rows[$0].delivered }
            let later = try reader.lookAgain(after: rateOver)
            for (index, delivered) in zip(moving, before) {
                guard let reported = later[rows[index].name]?.beat.uploader else { continue }
                let sum = reported.delivered.values.reduce(0, +)
                rows[index].rate = Double(sum - delivered) / rateOver
                rows[index].delivered = sum
            }
        }
    }

    /// From heartbeats that were already received, so that a caller with several reports listens only once.
    package init(
        _ stack: Stack, _ reader: StackReader, _ beats: Beats, now: Date
    ) throws {
        let counting = try BehindCount(stack, reader, beats)
        self.init(
            rows: try stack.destinations.map { try Self.row($0, stack, reader, beats[$0.name]?.beat, counting, now) },
            now: now)
    }

    private static func row(
        _ destination: StackConfiguration.Instance, _ stack: Stack, _ reader: StackReader, _ beat: Heartbeat?,
        _ counting: BehindCount, _ now: Date
    ) throws -> Row {
        let reported = beat?.uploader
        var metrics = reported.map { ($0.delivered, $0.lastDelivered, $0.deadLetters) } ?? ([:], [:], 0)
        var address = reported?.address
        var onTrust = reported?.backend.acceptance == .trust
        if reported == nil {
            metrics =
                try stack.kept(destination.name, reader) { database in
                    address = try DeliveryTables.address(in: database)
                    onTrust = try DeliveryTables.isTrusted(in: database)
                    let kept = try DeliveryTables.metrics(in: database)
                    return (kept.mapValues(\.count), kept.mapValues(\.last), try DeadLetter.count(in: database))
                } ?? metrics
        }
        let runs = try reader.isRunning(destination.name)
        return Row(
            name: destination.name, plugin: destination.manifest.name,
            place: stack.place(of: destination, reported: address),
            state: beat?.phase.rawValue ?? (runs ? "silent" : "stopped"),
            behind: try counting.behind(destination, beat, now), rate: nil,
            delivered: metrics.0.values.reduce(0, +),
            lastDelivered: metrics.1.values.max().map { InstantText.iso8601($0) }, onTrust: onTrust,
            deadLetters: metrics.2,
            blocked: reported?.blocked, unreachable: reported?.unreachable,
            proof: reported?.proof.map { ReportedProof($0) })
    }
}

extension UploaderDetails {
    /// Why the backend's content can't be compared, unless that is also why delivery waits. While there is nothing to
    /// deliver, this is all that is known about a destination that can't be used.
    package var unreachable: String? { blocked == nil ? backend.why : nil }
}

extension DestinationReport {
    /// One line per destination.
    package func text(for terminal: Terminal) -> String {
        guard !rows.isEmpty else { return "This stack has no destination: nothing is delivered.\n" }
        var table = Table([
            .init("Destination"), .init("Plugin", givesWay: 2), .init("State", givesWay: 3),
            .init("Where", givesWay: 1),
            .number("Behind"), .init("Waits since"), .number("Rate", givesWay: 4), .init("Delivered"),
            .init("Compared", givesWay: 5),
        ])
        for row in rows {
            table.add([
                row.name, row.plugin, row.state, row.place, Self.text(row.behind), waits(row.behind, terminal),
                row.rate.map { HumanFormat.count(Int($0.rounded())) + "/s" } ?? "", delivered(row, terminal),
                compared(row, terminal),
            ])
        }
        let waiting = rows.compactMap { row in row.blocked.map { "\(row.name) waits: \($0)\n" } }
        let unreachable = rows.compactMap { row in row.unreachable.map { "\(row.name) can't be reached: \($0)\n" } }
        let dead = rows.filter { $0.deadLetters > 0 }.map { row in
            "\(row.name): \(HumanFormat.count(Int(row.deadLetters), "dead letter")); "
                + "'healthbus dead-letters list --destination \(row.name)' says why\n"
        }
        return table.render(for: terminal) + (waiting + unreachable + dead).joined()
    }

    private static func text(_ behind: Row.Behind?) -> String {
        guard let behind else { return "unknown" }
        guard !behind.isLevel else { return "0" }
        // For files, this is the number that falls as they are written.
        if let files = behind.files, files > 0 { return HumanFormat.count(files, "file") }
        let samples = HumanFormat.count(behind.samples, "sample")
        let documents = HumanFormat.count(behind.documents, "document")
        return (behind.isMore ? "> " : "")
            + [behind.samples > 0 ? samples : nil, behind.documents > 0 ? documents : nil].compactMap { $0 }
            .joined(separator: ", ")
    }

    private func waits(_ behind: Row.Behind?, _ terminal: Terminal) -> String {
        guard let seconds = behind?.seconds, behind?.isLevel == false else { return "" }
        return HumanFormat.relative(now.addingTimeInterval(-seconds), now: now, for: terminal)
    }

    private func delivered(_ row: Row, _ terminal: Terminal) -> String {
        let last = row.lastDelivered.flatMap { InstantText.parse($0) }
        return HumanFormat.relative(last, now: now, for: terminal) + (last != nil && row.onTrust ? Self.onTrust : "")
    }

    private func compared(_ row: Row, _ terminal: Terminal) -> String {
        guard let proof = row.proof else { return "" }
        guard proof.unable == nil else { return "can't be" }
        let age = HumanFormat.relative(InstantText.parse(proof.at), now: now, for: terminal)
        return proof.wrong == 0 ? age : "\(age), \(HumanFormat.count(Int(proof.wrong))) wrong"
    }

    /// Follows the time of a delivery.
    package static let onTrust = ", on trust"
}

/// When a destination was last compared with what was delivered, as commands print it.
package struct ReportedProof: Codable, Sendable, Equatable {
    /// ISO 8601.
    package var at: String
    /// How many elements, or files, were compared.
    package var compared: Int64
    package var wrong: Int64
    /// Null if it can be compared.
    @OrNull package var unable: String?

    package init(_ proof: ProofSummary) {
        at = InstantText.iso8601(proof.at)
        compared = proof.compared
        wrong = proof.wrong
        unable = proof.unable
    }
}
