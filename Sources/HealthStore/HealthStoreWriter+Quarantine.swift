import HealthModel
import SQLite

extension HealthStoreWriter {
    /// Keeps what couldn't be understood, once: the same content again adds nothing, whatever its line.
    /// - Returns: how many of them are new.
    @discardableResult
    public func quarantine(_ inputs: [QuarantinedInput], session: ImportSession) throws -> Int {
        try change { user in
            var added = 0
            for input in inputs {
                let prefix = SampleKeyPrefix(user: self.user, type: input.reason, sourceName: input.raw)
                let content = SampleID(prefix, startSecond: 0, endSecond: 0, ordinal: 0)
                added += try quarantine(
                    content, sample: nil, source: session.source, line: input.line, reason: input.reason,
                    raw: input.raw,
                    user: user)
            }
            return added
        }
    }

    /// Says why a sample is quarantined.
    func note(_ sample: SampleID, reason: String, line: Int64, source: String, user: Int) throws {
        _ = try quarantine(sample, sample: sample, source: source, line: line, reason: reason, raw: "", user: user)
    }

    func rename(_ old: SampleID, to new: SampleID, user: Int) throws {
        let rename = statements.renameQuarantined
        rename.bind(1, new)
        rename.bind(2, old)
        rename.bind(3, user)
        try rename.run()
    }

    private func quarantine(
        _ content: SampleID, sample: SampleID?, source: String, line: Int64, reason: String, raw: String, user: Int
    ) throws -> Int {
        let add = statements.addQuarantine
        add.bind(1, user)
        add.bind(2, content)
        add.bind(3, sample)
        add.bind(4, source)
        add.bind(5, line)
        add.bind(6, reason)
        add.bind(7, raw)
        try add.run()
        return database.changes
    }
}
