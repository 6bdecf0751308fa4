import Client
import Configuration
import Foundation
import HealthModel
import Logging
import Protocol
import StageKit
import Terminal

/// The state of the files handed over, newest first (at most a hundred), and the devices that push.
package struct ImportsReport {
    package let rows: [ImportRow]
    package let devices: [PushingDevice]
    /// What was last found, or repaired, of samples stored twice.
    package private(set) var doubles: DoublesReport?
    /// What of everything brought isn't samples; empty unless a caller sets it.
    package var statistics = HeldStatistics([])

    package init(rows: [ImportRow], devices: [PushingDevice]) { (self.rows, self.devices) = (rows, devices) }

    package init(_ stack: Stack) throws { try self.init(stack, stack.reader()) }

    package init(_ stack: Stack, _ reader: StackReader) throws {
        let pages = try reader.pages(try stack.instance(.observer), .imports())
        rows = pages.flatMap(\.imports)
        devices = pages.flatMap { $0.devices ?? [] }
        doubles = pages.compactMap(\.doubles).last
    }

    /// The import with this id, or with an id that begins with it (at least four characters).
    /// - Throws: `Failure` when there is none, or more than one.
    package func row(_ id: String) throws -> ImportRow {
        if let row = rows.first(where: { $0.id == id }) { return row }
        let found = rows.filter { id.utf8.count >= 4 && $0.id.hasPrefix(id) }
        guard let row = found.first else {
            throw Failure(
                "no import has the id '\(id)'", hint: "'healthbus imports list' shows them")
        }
        guard found.count == 1 else {
            throw Failure("\(found.count) imports begin with '\(id)'", hint: "give more of the id")
        }
        return row
    }

    /// One person's imports and devices.
    package func only(_ user: String) -> ImportsReport {
        var report = ImportsReport(
            rows: rows.filter { $0.user == user }, devices: devices.filter { $0.user == user })
        report.statistics = statistics.of(user)
        return report
    }

    package var value: Value {
        .object([
            "imports": .array(
                rows.map { row in
                    var members = Value(row).object ?? [:]
                    members["request"] = nil
                    members["submitted"] = Value(row.submitted.map { InstantText.iso8601($0) })
                    members["undone"] = Value(row.undone.map { InstantText.iso8601($0) })
                    return .object(members)
                }),
            "devices": .array(devices.map { Value($0) }), "statistics": Value(statistics.rows),
        ])
    }

    package func table(for terminal: Terminal) -> String {
        guard !rows.isEmpty else { return "Nothing has been imported yet.\n" + deviceTable(for: terminal) + apart }
        let reports: [ImportReport?] = rows.map { $0.report?.read() }
        let hasDeleted = reports.contains { ($0?.samplesDeleted ?? 0) > 0 }
        var table = Table(
            [
                .init("Id"), .init("When", givesWay: 2), .init("User", givesWay: 3), .init("State"), .number("Added"),
            ] + (hasDeleted ? [.number("Deleted")] : [])
                + [.number("Known", givesWay: 1), .init("File", givesWay: 4)])
        for (row, report) in zip(rows, reports) {
            func count(_ number: Int64?) -> String { number.map { HumanFormat.count(Int($0)) } ?? "" }
            table.add(
                [
                    row.id, row.submitted.map { terminal.moment($0) } ?? "", row.user,
                    Self.state(of: row), count(report?.total.added),
                ] + (hasDeleted ? [count(report?.samplesDeleted)] : [])
                    + [count(report?.total.known), (row.path as NSString).lastPathComponent])
        }
        return table.render(for: terminal) + reasons + deviceTable(for: terminal) + apart
    }

    /// What isn't in a list of samples; empty if there is nothing.
    private var apart: String { statistics.rows.isEmpty ? "" : "\n" + statistics.text }

    /// A line for each import that failed or whose file is damaged, and for whatever was taken as sums or means; empty
    /// if there is none.
    private var reasons: String {
        let lines = rows.flatMap { row in
            let taken = row.undone == nil ? row.report?.read(ImportReport.self)?.source.statistics ?? [] : []
            return (Self.reason(of: row).map { ["\(Self.state(of: row)): \(Table.inOneLine($0))"] } ?? [])
                .map { "\(row.id) \($0)\n" } + taken.map { "\(row.id) \($0.text)\n" }
        }
        return lines.isEmpty ? "" : "\n" + lines.joined()
    }

    /// Empty if no device pushes.
    private func deviceTable(for terminal: Terminal) -> String {
        guard !devices.isEmpty else { return "" }
        var table = Table([.init("Device"), .init("User", givesWay: 2), .init("Pushes to", givesWay: 1)])
        for device in devices { table.add([device.device, device.user, device.ways.joined(separator: ", ")]) }
        return "\n" + table.render(for: terminal)
    }

    /// Why an import failed, or what is wrong with its file, without the folder that the file was in and without what
    /// to do; nil if nothing is wrong.
    package static func reason(of row: ImportRow) -> String? {
        guard row.undone == nil, row.problem != ImportRow.cancelled, row.state == .failed || row.state == .closed,
            let problem = row.problem ?? (row.state == .failed ? "it couldn't be read" : nil)
        else { return nil }
        let named =
            row.path.isEmpty
            ? problem : problem.replacing(row.path, with: (row.path as NSString).lastPathComponent)
        return named.components(separatedBy: "; ")[0]
    }

    /// The newest import of each person who has had no success since; newest first.
    package static func failed(_ rows: [ImportRow]) -> [ImportRow] {
        var seen: Set<String> = []
        return rows.filter { row in
            // A dry run stores nothing, whether it succeeds or fails.
            guard row.undone == nil, row.problem != ImportRow.cancelled, row.report?["dryRun"] != true,
                row.state == .failed || row.state == .closed, seen.insert(row.user).inserted
            else { return false }
            return row.state == .failed
        }
    }

    package static func state(of row: ImportRow) -> String {
        if row.undone != nil { return "taken back" }
        if row.problem == ImportRow.cancelled { return "cancelled" }
        guard row.state == .closed else { return row.state.rawValue }
        if row.problem != nil { return "damaged" }
        // A dry run stores nothing.
        let report: ImportReport? = row.report?.read()
        return report?.dryRun == true ? "dry run" : row.state.rawValue
    }
}

extension ImportsReport {
    /// Whether everything that a user has imported is made up, so that data from a phone would mix with it.
    package func isMadeUp(_ user: String) -> Bool {
        let brought = rows.filter { $0.user == user && $0.state == .closed && $0.undone == nil }
            .compactMap(\.report).filter { ($0["added"].int ?? 0) > 0 && $0["dryRun"] != true }
        return !brought.isEmpty && brought.allSatisfy { $0["madeUp"] == true }
    }

    /// What a person should know before a phone is let in; nil if there is nothing to say. If the stack can't answer,
    /// nothing is known, and the phone is let in anyway.
    package static func remarkOnMixing(_ stack: Stack, user: String) -> String? {
        guard let imports = try? ImportsReport(stack), imports.isMadeUp(user) else { return nil }
        return "'\(user)' has generated test data, and a phone's would mix with it; "
            + "start another stack for the phone (--state), or choose another user (--user)"
    }
}
