import DeliveryKit
import HTTP
import HealthModel
import UploaderReading

/// The cases about one element.
extension BackendTrial {
    /// The outcome of an element, taken from an answer.
    enum Verdict: String { case created, updated, known }

    func perform(_ asked: BackendCase) throws {
        switch asked {
        case .noToken: try refusesToken(.none, asked)
        case .wrongToken: try refusesToken(.wrong, asked)
        case .sample: try sample()
        case .shows: try showsWhatItKeeps()
        case .again: try again()
        case .higher: try higher()
        case .lower: try lower()
        case .deletion: try deletion()
        case .lateCopy: try lateCopy()
        case .deletedFirst: try deletedFirst()
        case .revived: try revived()
        case .unknownMembers:
            let sample = data.sample(.random(), ["someNewMember": ["a": [1, .null, "x"]]])
            try takes(
                .samples, [sample], adding: ["someNewMember": ["a": 1]],
                "a sample and a body with a member that no release has yet",
                "read the members you know, and ignore all others: some may be added")
        case .otherScripts: try otherScripts()
        case .emptyMembers:
            let sample = data.sample(
                .random(),
                ["type": "HKCategoryTypeIdentifierMindfulSession", "value": .null, "unit": .null, "source": .null])
            try takes(
                .samples, [sample], "a sample whose value, unit, source and metadata are null",
                "value, unit, source and metadata may be null: a type of categories has no number")
        case .workout: try document(.workouts, data.workout(.random()))
        case .night: try document(.nights, data.night(.random()))
        case .day: try document(.days, data.day())
        case .badElement: try badElement()
        case .bigBatch: try bigBatch()
        case .tooLarge: try tooLarge()
        case .twoAtOnce: try twoAtOnce()
        case .manual: try manual()
        case .sameVersion: try sameVersion()
        case .upperCase: try upperCase()
        case .users: try users()
        case .notJSON: try notJSON()
        case .generation: try generation()
        case .stats: try stats()
        case .versions: try listsVersions()
        case .changes: try listsChanges()
        }
    }

    private func refusesToken(_ credential: BackendConnection.Credential, _ asked: BackendCase) throws {
        let reply = try connection.post("steps", data.body(["samples": []]), sent: 0, credential)
        guard reply.status != 401 else { return }
        let what = credential == .none ? "a request without Authorization" : "a request with another token"
        throw BackendFault(
            asked: what, expected: "401", seen: reply.seen,
            advice: (300..<400).contains(reply.status)
                ? reply.advice
                : "check 'Authorization: Bearer …' before anything else, and answer 401; after it healthbus fetches its token again"
        )
    }

    // MARK: Steps that cases are made of

    /// Sends elements, all of which must be accepted.
    @discardableResult
    func takes(
        _ list: BackendList, _ elements: [[String: Value]], user: String? = nil, adding more: [String: Value] = [:],
        _ asked: String,
        _ advice: String? = nil
    ) throws -> BackendReply {
        let reply = try send(list, [list.rawValue: elements], user: user, adding: more)
        try accepts(reply, asked, advice)
        return reply
    }

    func accepts(_ reply: BackendReply, _ asked: String, _ advice: String? = nil) throws {
        guard reply.isAccepted, reply.answer.refused.isEmpty else {
            let isRefusal = reply.isAccepted || reply.status == 400 || reply.status == 422
            throw BackendFault(
                asked: asked, expected: "2xx, and all of it accepted", seen: reply.seen,
                advice: isRefusal ? advice ?? reply.advice : reply.advice)
        }
    }

    /// Sends one element or deletion, and checks its outcome both in the answer's counts and in what is stored, if
    /// these are reported.
    func becomes(
        _ verdicts: [Verdict], _ list: BackendList, _ element: [String: Value], deletes: Bool = false,
        keeps: BackendVersions.Row?,
        _ asked: String, _ advice: String
    ) throws {
        let reply = try send(list, [deletes ? list.deleted : list.rawValue: [element]])
        try accepts(reply, asked, advice)
        if let verdict = reply.verdict, !verdicts.contains(verdict) {
            throw BackendFault(
                asked: asked, expected: "'\(verdicts[0].rawValue)' in counts", seen: reply.seen, advice: advice)
        }
        guard let keeps, let row = try kept(keeps.id, list), row != keeps else { return }
        throw BackendFault(
            asked: asked, expected: "version \(keeps.version) is stored\(keeps.isDeleted ? ", deleted" : "")",
            seen: row.map { "version \($0.version) is stored\($0.isDeleted ? ", deleted" : "")" }
                ?? "nothing of it is stored",
            advice: advice)
    }

    func row(_ id: SampleID, _ version: Int64, deleted: Bool = false) -> BackendVersions.Row {
        .init(id: id.description, version: version, isDeleted: deleted)
    }

    /// Returns a sample that has been accepted, for use in further steps.
    private func given(_ id: SampleID) throws -> [String: Value] {
        let sample = data.sample(id)
        try takes(.samples, [sample], "a sample")
        return sample
    }

    // MARK: Cases

    private func sample() throws {
        let id = SampleID.random()
        let sample = data.sample(id)
        let reply = try takes(.samples, [sample], "a sample")
        first = (id, sample["version"]?.int ?? 0, reply)
    }

    private func showsWhatItKeeps() throws {
        guard let first else { return }
        shows.counts = first.reply.answer.counts != nil
        shows.versions =
            try versions(.samples)?.rows.contains { $0.id == first.id.description && $0.version == first.version }
            ?? false
        guard !shows.anything else { return }
        throw BackendFault(
            asked: "the outcome of the sample",
            expected: "'counts' in the answer, or the sample in GET /api/v1/versions",
            seen: first.reply.seen,
            advice:
                #"answer {"counts": {"created": 1, "updated": 0, "known": 0, "refused": 0}}; without it healthbus believes the server, and it stays unknown whether it respects versions and deletions"#
        )
    }

    private static let rule =
        "store a sample only if its version is higher than the stored one; answer 'known' otherwise"
    private static let tombstone =
        "keep the id and version of deleted elements forever, and compare later versions with it"

    private func again() throws {
        let id = SampleID.random()
        let sample = try given(id)
        try becomes(
            [.known], .samples, sample, keeps: row(id, sample["version"]?.int ?? 0),
            "the same sample again, with its version",
            Self.rule)
    }

    private func higher() throws {
        let id = SampleID.random()
        _ = try given(id)
        let newer = data.sample(id, ["value": 13])
        try becomes(
            [.updated], .samples, newer, keeps: row(id, newer["version"]?.int ?? 0),
            "the same id with a higher version",
            "replace what is stored under an id when a higher version arrives")
    }

    private func lower() throws {
        let id = SampleID.random()
        let (older, newer) = (data.sample(id, ["value": 1]), data.sample(id))
        try takes(.samples, [newer], "a sample")
        try becomes(
            [.known], .samples, older, keeps: row(id, newer["version"]?.int ?? 0), "the same id with a lower version",
            Self.rule)
    }

    private func deletion() throws {
        let id = SampleID.random()
        _ = try given(id)
        let version = data.nextVersion()
        try becomes(
            [.updated], .samples, BackendTestData.deletion(id.description, version), deletes: true,
            keeps: row(id, version, deleted: true), "the deletion of a sample, with a higher version",
            "read the list 'deleted' too, and count each deletion")
    }

    private func lateCopy() throws {
        let id = SampleID.random()
        let older = try given(id)
        let version = data.nextVersion()
        try accepts(
            try send(.samples, ["deleted": [BackendTestData.deletion(id.description, version)]]),
            "the deletion of a sample")
        try becomes(
            [.known], .samples, older, keeps: row(id, version, deleted: true),
            "a sample again after its deletion with a higher version", Self.tombstone)
    }

    private func deletedFirst() throws {
        let id = SampleID.random()
        let older = data.sample(id)
        let version = data.nextVersion()
        note([older], .samples)
        try becomes(
            [.created, .updated, .known], .samples, BackendTestData.deletion(id.description, version), deletes: true,
            keeps: row(id, version, deleted: true), "the deletion of a sample that never arrived", Self.tombstone)
        try becomes(
            [.known], .samples, older, keeps: row(id, version, deleted: true),
            "a sample whose deletion arrived before it, with a higher version", Self.tombstone)
    }

    private func revived() throws {
        let id = SampleID.random()
        _ = try given(id)
        try accepts(
            try send(.samples, ["deleted": [BackendTestData.deletion(id.description, data.nextVersion())]]),
            "the deletion of a sample")
        let newer = data.sample(id)
        try becomes(
            [.updated, .created], .samples, newer, keeps: row(id, newer["version"]?.int ?? 0),
            "a deleted sample again, with a version above its deletion's",
            "a deletion applies only to versions up to its own: store a sample with a higher one")
    }

    private func otherScripts() throws {
        let id = SampleID.random()
        let source = "Zoë’s ⌚️ “Uhr” 心拍 \\ \"x\""
        let sample = data.sample(id, ["source": .string(source), "metadata": ["Größe": "かな\n\t√"]])
        let asked = "a sample whose source is \(source)"
        try takes(.samples, [sample], asked, "read and keep text as UTF-8, without restricting the alphabet")
        let answer = try connection.get("samples", ["user": data.user])
        guard answer.status == 200, let kept = Value(strictJSON: answer.body)?["samples"].array,
            let found = kept.first(where: { $0["id"].string?.lowercased() == id.description }),
            let text = found["source"].string, text != source
        else { return }
        throw BackendFault(
            asked: asked, expected: "GET /api/v1/samples returns it unchanged", seen: text,
            advice: "read, store and return text as UTF-8")
    }

    private func document(_ list: BackendList, _ element: [String: Value]) throws {
        let key = element[list.key]?.string ?? ""
        let name = String(list.rawValue.dropLast())
        let version = element["version"]?.int ?? 0
        func row(_ version: Int64, deleted: Bool = false) -> BackendVersions.Row {
            .init(id: key, version: version, isDeleted: deleted)
        }
        let path =
            "accept '\(list.rawValue)' and '\(list.deleted)' at /api/v1/sync/\(list.metric), by the same version rule as samples"
        try becomes([.created], list, element, keeps: row(version), "a \(name)", path)
        try becomes([.known], list, element, keeps: row(version), "the same \(name) again", path)
        let later = data.nextVersion()
        try becomes(
            [.updated], list, BackendTestData.deletion(key, later), deletes: true, keeps: row(later, deleted: true),
            "the deletion of a \(name)", path)
        try becomes(
            [.known], list, element, keeps: row(later, deleted: true), "a \(name) again after its deletion",
            path)
    }
}

extension BackendReply {
    /// The outcome of the only element sent; nil when the answer doesn't report it.
    var verdict: BackendTrial.Verdict? {
        guard sent == 1, let counts = answer.counts else { return nil }
        return counts.created == 1 ? .created : counts.updated == 1 ? .updated : counts.known == 1 ? .known : nil
    }
}

extension SampleID {
    static func random() -> SampleID {
        // Sets the bits of a version 8 UUID, the kind that healthbus makes.
        SampleID(
            high: .random(in: 0 ... .max) & ~0xF000 | 0x8000, low: .random(in: 0 ... .max) & (1 << 62 - 1) | 1 << 63)
    }
}
