import Changelog
import Client
import Configuration
import DeliveryKit
import HealthModel
import Protocol

extension Verification {
    /// A workout, night or day, as the uploader sends it.
    package struct Document: Sendable {
        var held: HeldVersion
        /// The sequence number of its latest change, which is its version.
        var sequence: SequenceNumber { SequenceNumber(held.version) }
        var producer: String
        /// nil if it belongs to none.
        var day: LocalDay?
        var isPending: Bool
        /// Whether it isn't delivered: it is too old, or its kind isn't chosen.
        var isOff: Bool

        package init(
            held: HeldVersion, producer: String, day: LocalDay?, isPending: Bool = false, isOff: Bool = false
        ) {
            (self.held, self.producer, self.day) = (held, producer, day)
            (self.isPending, self.isOff) = (isPending, isOff)
        }
    }

    /// Compares nights, workouts and days: there are only a few of them per day, so their ids fit in memory.
    func compareDocuments(
        _ user: String, _ store: StoreVersions, _ backend: BackendVersions, _ refused: [String: Refusal],
        _ part: inout VerifyReport.User, _ again: inout [String: [SequenceNumber]]
    ) throws {
        for list in ["workouts", "nights", "days"] {
            // The backend is read first: anything it has by then was delivered before the store is read.
            var theirs: [String: HeldVersion] = [:]
            try backend.forEach(list, user: user) { row in
                theirs[row.id?.description ?? row.text] = row.held
                return true
            }
            let ours = try documents(of: list, user, store)
            let compared = Self.compare(ours, with: theirs, of: list, in: scope, refused: refused)
            again.merge(compared.again) { $0 + $1 }
            part.lists[list] = compared.found
        }
    }

    /// Compares one list, by id. Pure.
    /// - Returns: what was found, and what to deliver again: sequence numbers by producer.
    package static func compare(
        _ ours: [String: Document], with theirs: [String: HeldVersion], of list: String, in scope: Scope,
        refused: [String: Refusal] = [:]
    ) -> (found: VerifyReport.List, again: [String: [SequenceNumber]]) {
        var found = VerifyReport.List()
        var again: [String: [SequenceNumber]] = [:]
        for (id, document) in ours.sorted(by: { $0.key < $1.key }) where scope.holds(document.day) {
            let held = theirs[id]
            if held != nil { found.there += 1 }
            if document.isPending {
                found.note(document.isOff ? .off : .pending, id)
                continue
            }
            // An element deleted on both sides is as it should be, and isn't reported.
            let lives = document.held.isDeleted ? 0 : 1
            guard var finding = VerifyFinding.of(document.held, held, refusal: refused[id]) else {
                found.here += lives
                continue
            }
            if document.isOff, finding != .deadLetter { finding = .off }
            found.note(finding, id)
            if !finding.isUndelivered { found.here += lives }
            if finding.isRepairable { again[document.producer, default: []].append(document.sequence) }
        }
        for (id, held) in theirs.sorted(by: { $0.key < $1.key }) where ours[id] == nil {
            // A day's id is its date; for anything else that only the backend has, no date is known here.
            guard scope.holds(list == "days" ? LocalDay(id) : nil) else { continue }
            found.there += 1
            if !held.isDeleted { found.note(.beyond, id) }
        }
        return (found, again)
    }

    private static func content(of row: KeyedChangelog.Row) throws -> Int64? {
        try UploadDocument.document(of: row).map { try ContentNumber.document(json: $0.json().utf8) }
    }

    /// Documents by the last part of their key.
    private func documents(of list: String, _ user: String, _ store: StoreVersions) throws -> [String: Document] {
        var documents: [String: Document] = [:]
        let producers =
            list == "days"
            ? [stack.configuration.only(.consolidator)].compactMap { $0 }
            : stack.configuration.handlers.filter { $0.manifest.produces.contains { $0.hasPrefix("events.") } }
        for producer in producers {
            let topic = list == "days" ? "daily.summary" : "events."
            let metric: UploadMetric = list == "days" ? .daily : list == "nights" ? .sleep : .workouts
            try reader.forEachRow(producer, topic: topic) { row in
                guard row.user == user, let id = row.key.split(separator: "/").last,
                    row.lists.contains(where: { $0.rawValue == list })
                else { return }
                documents[String(id)] = Document(
                    held: HeldVersion(
                        version: row.sequence.value, isDeleted: row.body == nil, content: try Self.content(of: row)),
                    producer: producer.name, day: row.day.map { LocalDay(number: $0) },
                    isPending: store.isPending(row, of: producer.name), isOff: store.isOff(row, of: metric))
            }
        }
        return documents
    }
}
