import HealthModel
import SQLite

extension HealthStoreWriter {
    /// Stores input that couldn't be understood. The same content is stored only once, whatever its line.
    /// - Returns: how many of them are new.
    @discardableResult
    package func quarantine(_ inputs: [QuarantinedInput], session: ImportSession) throws -> Int {
        try change { user in try inputs.reduce(0) { try $0 + quarantined.add($1, from: session.source, user: user) } }
    }

    /// For each of these inputs, whether a person has dropped it: a dropped input is refused like a deleted sample, and
    /// is no longer quarantined. Changes nothing.
    package func areDropped(_ inputs: [QuarantinedInput]) throws -> [Bool] {
        forgetWhatWasUndone()
        guard !inputs.isEmpty, let user = try users.existing(self.user) else { return inputs.map { _ in false } }
        return try inputs.map { try quarantined.isDropped($0, user: user) }
    }

    /// Checks quarantined samples against the current limits: those that pass get a new version and count like any
    /// other.
    /// - Returns: how many passed.
    package func retryQuarantined(_ entries: [QuarantineEntry], plausibility: PlausibilityRule) throws -> Int {
        try change { user in
            var passed = 0
            for entry in entries {
                guard let id = entry.sample else { continue }
                if let old = try row(id: id, user: user), old.isKeptApart {
                    let reason = SampleGuard.reason(
                        start: old.start, end: old.end, value: old.value, rule: plausibility(try types.name(old.type)))
                    if let reason {
                        try quarantined.set(reason, of: entry)
                        continue
                    }
                    try rewrite(old, user: user) { $0.state = .alive }
                    passed += 1
                }
                // If there is no such row, the sample was deleted in the meantime, or already counts.
                try quarantined.forget(entry)
            }
            return passed
        }
    }

    /// Drops what is in quarantine, permanently: a dropped sample or input is refused when it arrives again.
    package func dropQuarantined(_ entries: [QuarantineEntry]) throws {
        try change { user in
            for entry in entries {
                guard let id = entry.sample else {
                    try quarantined.refuse(entry)
                    continue
                }
                if let row = try row(id: id, user: user), row.isKeptApart {
                    try leaveTombstone(row, as: .deleted, user: user)
                }
                try quarantined.forget(entry)
            }
        }
    }

    /// Forgets those inputs of a file that were quarantined for these reasons; dropped inputs stay dropped.
    /// - Returns: how many.
    package func forgetInputs(of source: String, reasons: [String]) throws -> Int {
        try change { user in
            try reasons.reduce(0) { try $0 + quarantined.forgetInputs(of: source, reason: $1, user: user) }
        }
    }

    /// Forgets that something was quarantined.
    package func forgetQuarantined(_ entry: QuarantineEntry) throws { try quarantined.forget(entry) }
}

extension StoredRow {
    /// Whether a row named in the quarantine is still waiting there. If a row counted before it was quarantined, its
    /// state is `absent`, so that anyone who had it learns that it no longer exists.
    fileprivate var isKeptApart: Bool { state == .quarantined || state == .absent }
}
