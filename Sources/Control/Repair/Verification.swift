import Client
import Configuration
import DeliveryKit
import HealthModel
import Inspection
import Logging
import Protocol

/// Has a destination's process compare what it delivered with what the destination keeps, element by element, and, if
/// asked to, repair what differs and compare again.
package struct Verification {
    package let stack: Stack
    package let destination: StackConfiguration.Instance
    private let scope: Scope
    private let reader: StackReader

    /// - Parameter destination: its name; nil for the only one.
    /// - Throws: `Failure` if there is no such destination, or if there are several.
    package init(_ stack: Stack, of destination: String? = nil, _ scope: Scope) throws {
        self.destination = try stack.destination(
            destination, toBe: "verified", where: { $0.manifest.destination?.isVerified == true },
            why: { ": the \($0.manifest.destination?.word ?? "destination") doesn't say what it keeps" })
        try stack.requireRunning()
        (self.stack, self.scope) = (stack, scope)
        reader = stack.reader()
    }

    /// - Parameter progress: called with the number of rows that have been read.
    package func run(repair: Bool = false, progress: (Int64) -> Void = { _ in }) throws -> VerifyReport {
        let observing = try ObserverQueries(stack, reader)
        var request = RepairClient.request("verify")
        request.dryRun = !repair
        if let user = scope.user { request.users = [user: ends(of: try observing.zones(of: user))] }
        if scope.user == nil, !scope.isWhole { request.users = try observing.timelines().mapValues { ends(of: $0) } }
        (request.from, request.through) = (scope.from?.description, scope.to?.description)
        let outcome = try stack.repair(destination, request, progress: progress)
        guard case .done(let result) = outcome else {
            throw Failure("'\(destination.name)' stopped meanwhile", hint: "start the stack, and verify again")
        }
        var report = VerifyReport(
            address: stack.place(of: destination), destination: destination.name, from: scope.from, to: scope.to)
        report.word = destination.manifest.destination?.word ?? report.word
        report.comparesContents = result["contents"].bool ?? true
        report.repairable = Int(result["repairable"].int ?? 0)
        report.repaired = result["repaired"].int.map { Int($0) }
        report.noteUncompared(result["uncompared"])
        report.files = VerifyReport.Files(result)
        if report.files == nil { report.users = try users(quarantined: quarantined()) }
        return report
    }

    private func ends(of zones: ZoneTimeline) -> [Instant] {
        let span = scope.span(in: zones)
        return [span.lowerBound, span.upperBound]
    }

    private func users(quarantined: [String: Int]) throws -> [VerifyReport.User] {
        var users: [VerifyReport.User] = []
        try reader.all(destination, { .proof(after: $0) }, next: \ProofPage.continue) {
            users += $0.users.map { VerifyReport.User($0) }
        }
        for index in users.indices { users[index].quarantined = quarantined[users[index].name] ?? 0 }
        return users
    }

    /// How many records are quarantined here, by person.
    private func quarantined() throws -> [String: Int] {
        let pages = try reader.pages(try stack.instance(.observer), .types)
        return pages.flatMap(\.types).reduce(into: [:]) { $0[$1.user, default: 0] += $1.quarantined }
    }
}

extension Verification {
    /// What to verify.
    package struct Scope: Sendable {
        /// nil for everybody.
        package var user: String?
        package var from: LocalDay?
        package var to: LocalDay?

        package init(user: String? = nil, from: LocalDay? = nil, to: LocalDay? = nil) {
            (self.user, self.from, self.to) = (user, from, to)
        }

        var isWhole: Bool { from == nil && to == nil }

        /// From the beginning of the first requested day to the end of the last one. For a date that was skipped, the
        /// nearest one inside the range counts.
        package func span(in zones: ZoneTimeline) -> Range<Instant> {
            let near = (0...3).lazy
            let first = from.flatMap { day in
                near.compactMap { zones.ranges(of: day.adding(days: $0)).first?.lowerBound }.first
            }
            let last = to.flatMap { day in
                near.compactMap { zones.ranges(of: day.adding(days: -$0)).last?.upperBound }.first
            }
            let start = first ?? .distantPast
            return start..<max(start, last ?? .distantFuture)
        }
    }
}
