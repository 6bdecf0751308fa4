import DeliveryKit
import Foundation
import HTTP
import HealthModel
import Synchronization
import UploaderReading

/// The cases about whole requests, and those that are only recommended.
extension BackendTrial {
    /// How many samples the uploader usually sends in a request when many are waiting.
    private static let batch = 4096
    /// A request with this many samples must be accepted, whatever limit the server sets.
    static let leastBatch = 256
    private static let manySamples = 100

    func badElement() throws {
        let good = [data.sample(.random()), data.sample(.random())]
        let bad = data.sample(.random(), ["startDate": "not a date"])
        let asked = "three samples, of which the second has no date"
        let advice =
            #"accept the good ones, and name the bad one: "refused": [{"id": …, "reason": …}]; otherwise healthbus has to send the request in ever smaller parts"#
        let reply = try send(.samples, ["samples": [good[0], bad, good[1]]])
        let named = reply.answer.refused
        let isBad = named.allSatisfy {
            $0.id.map { $0.lowercased() == bad["id"]?.string } ?? ($0.index == 1 && $0.list ?? "samples" == "samples")
        }
        let isRight =
            named.isEmpty
            // A server that stores whatever is sent to it.
            ? reply.isAccepted
            : isBad && named.count == 1 && (reply.isAccepted || reply.judgement == .refusals)
        guard isRight else {
            throw BackendFault(
                asked: asked, expected: "the second one refused by its id, the others accepted", seen: reply.seen,
                advice: advice)
        }
        // After a 400 or 422, the uploader sends the other elements once more; after a 2xx, they are stored.
        let again = try takes(.samples, good, "the two good ones again", advice)
        guard reply.isAccepted, let counts = again.answer.counts, counts.created > 0 else { return }
        throw BackendFault(
            asked: "the two good ones again", expected: "created 0: they were accepted before", seen: again.seen,
            advice: "store the good elements of a request whatever happens to the others")
    }

    func bigBatch() throws {
        var count = Self.batch
        let samples = (0..<count).map { _ in data.sample(.random()) }
        while true {
            let reply = try send(.samples, ["samples": Array(samples[..<count])])
            if reply.status == 413, count > Self.leastBatch {
                count /= 2
                continue
            }
            return try accepts(
                reply, "\(count) samples in one request",
                "accept requests of at least \(Self.leastBatch) samples; answer 413 to larger ones")
        }
    }

    func tooLarge() throws {
        let padding = Value.string(String(repeating: "x", count: 9 << 10))
        let samples = (0..<1024).map { _ in data.sample(.random(), ["metadata": ["padding": padding]]) }
        let asked = "a body of 9 MiB"
        let advice =
            "answer 413 after reading or discarding the body: healthbus then sends halves; after a cut connection it sends the same again"
        let reply: BackendReply
        do { reply = try connection.post("steps", data.body(["samples": samples]), sent: samples.count) } catch {
            throw BackendFault(asked: asked, expected: "413, or all of it accepted", seen: error.detail, advice: advice)
        }
        if (200..<300).contains(reply.status) { note(samples, .samples) }
        guard reply.status == 413 || reply.isAccepted && reply.answer.refused.isEmpty else {
            throw BackendFault(asked: asked, expected: "413, or all of it accepted", seen: reply.seen, advice: advice)
        }
    }

    func twoAtOnce() throws {
        let samples = (0..<Self.manySamples).map { _ in data.sample(.random()) }
        note(samples, .samples)
        let body = data.body(["samples": samples])
        let replies = Mutex<[Result<BackendReply, any Error>]>([])
        let finished = DispatchSemaphore(value: 0)
        for _ in 0..<2 {
            let thread = Thread { [url, token] in
                let reply = Result {
                    try BackendConnection(url, token: token).post("steps", body, sent: Self.manySamples)
                }
                replies.withLock { $0.append(reply) }
                finished.signal()
            }
            thread.start()
        }
        finished.wait()
        finished.wait()
        let asked = "the same \(Self.manySamples) samples in two requests at once"
        let advice =
            "store elements under a unique key (user, list, id) with one statement in a transaction, without checking first; answer 503 to clients you can't serve"
        var created: Int64 = 0
        for reply in replies.withLock({ $0 }) {
            var reply = try reply.get()
            if reply.status == 409 || reply.status >= 429 { reply = try send(.samples, ["samples": samples]) }
            try accepts(reply, asked, advice)
            created += reply.answer.counts?.created ?? 0
        }
        let times = "each created once"
        if shows.counts, created != Self.manySamples {
            throw BackendFault(
                asked: asked, expected: times, seen: "\(created) were reported as created", advice: advice)
        }
        guard let rows = try shows.versions ? versions(.samples)?.rows : nil else { return }
        let ids = Set(samples.compactMap { $0["id"]?.string })
        let found = rows.count { ids.contains($0.id) }
        guard found == ids.count else {
            throw BackendFault(
                asked: asked, expected: times, seen: "\(found) rows are stored for \(ids.count) samples", advice: advice
            )
        }
    }

    // MARK: Advised

    func manual() throws {
        let (id, other, lower) = (SampleID.random(), SampleID.random(), data.nextVersion())
        let sample = data.sample(id, ["sourceType": "manual"])
        try takes(.samples, [sample], "a sample that was entered by hand")
        func copy(_ id: SampleID, _ version: Int64) -> [String: Value] {
            sample.merging(["id": .string(id.description), "version": .integer(version)]) { $1 }
        }
        let asked = "another sample entered by hand, with the same type and time and a higher version"
        let advice =
            "of undeleted samples with sourceType 'manual' and the same user, type and start, keep only the one with the highest version, and make the other a tombstone of its own version"
        try becomes(
            [.known], .samples, copy(.random(), lower), keeps: nil,
            "another sample entered by hand, with the same type and time and a lower version", advice)
        let between = data.nextVersion()
        try becomes([.created, .updated], .samples, copy(other, data.nextVersion()), keeps: nil, asked, advice)
        try stores(1, of: [id, other], asked, advice)
        let late = "the deletion of the first sample, after the one that replaces it"
        try becomes(
            [.updated, .known], .samples, BackendTestData.deletion(id.description, between), deletes: true, keeps: nil,
            late, advice)
        try stores(1, of: [id, other], late, advice)
        let last = "the deletion of the sample that replaced it"
        try becomes(
            [.updated, .created], .samples, BackendTestData.deletion(other.description, data.nextVersion()),
            deletes: true, keeps: nil, last, advice)
        try stores(0, of: [id, other], last, advice)
    }

    /// Checks how many of some samples are stored and not deleted, if the backend shows that.
    private func stores(_ count: Int, of ids: [SampleID], _ asked: String, _ advice: String) throws {
        guard shows.versions, let rows = try versions(.samples)?.rows else { return }
        let ids = Set(ids.map(\.description))
        let found = rows.count { ids.contains($0.id) && !$0.isDeleted }
        guard found != count else { return }
        throw BackendFault(
            asked: asked, expected: "samples stored and not deleted: \(count)", seen: "\(found)", advice: advice)
    }

    func sameVersion() throws {
        let id = SampleID.random()
        let sample = data.sample(id)
        let version = sample["version"]?.int ?? 0
        try takes(.samples, [sample], "a sample")
        try becomes(
            [.updated], .samples, BackendTestData.deletion(id.description, version), deletes: true,
            keeps: row(id, version, deleted: true), "the deletion of a sample, with its own version",
            "if versions are equal, the deletion wins, whichever arrives first")
    }

    func upperCase() throws {
        let id = SampleID.random()
        let sample = data.sample(id)
        try takes(.samples, [sample], "a sample")
        let upper = sample.merging(["id": .string(id.description.uppercased())]) { $1 }
        try becomes(
            [.known], .samples, upper, keeps: row(id, sample["version"]?.int ?? 0),
            "the same sample with its UUID in upper case",
            "compare UUIDs without case: iOS writes upper case, healthbus lower")
    }

    func users() throws {
        let id = SampleID.random()
        let sample = data.sample(id)
        try takes(.samples, [sample], "a sample")
        let reply = try takes(.samples, [sample], user: data.user + "-b", "the same sample for another user")
        guard let verdict = reply.verdict, verdict != .created else { return }
        throw BackendFault(
            asked: "the same sample for another user", expected: "'created' in counts", seen: reply.seen,
            advice: "the key is user, list and id; ignore this if your backend only ever holds one person's data")
    }

    func notJSON() throws {
        let reply = try connection.post("steps", Array(#"{"userId": "#.utf8), sent: 0)
        guard reply.status != 400, reply.status != 422 else { return }
        throw BackendFault(
            asked: "half a JSON object", expected: "400", seen: reply.seen,
            advice: "read the whole body before storing anything; a request that was cut off must not leave half behind"
        )
    }

    func generation() throws {
        let expected =
            "'generation' and all of 'counts' in the answer, the same generation again, and a 'sequence' that has risen"
        let reply = try takes(.samples, [data.sample(.random())], "a sample")
        let before = first?.reply.answer
        guard reply.answer.counts != nil, let generation = reply.answer.generation, before?.generation == generation,
            let sequence = reply.answer.sequence, sequence > before?.sequence ?? .max
        else {
            throw BackendFault(
                asked: "another sample", expected: expected,
                seen: reply.answer.generation == nil
                    ? reply.seen : "generation and sequence, but not the same generation or not a rising sequence",
                advice:
                    "answer with a random text that is created with the database, and a number that rises with each request that changes something; otherwise a lost or restored database goes unnoticed"
            )
        }
    }

    func stats() throws {
        let answer = try connection.get("stats", [:])
        let holdings = answer.status == 200 ? BackendHoldings(body: answer.body) : nil
        guard holdings == nil || holdings?.generation != first?.reply.answer.generation else { return }
        throw BackendFault(
            asked: "GET /api/v1/stats", expected: "the generation of the other answers, and how much is stored",
            seen: BackendReply(answer, sent: 0).seen,
            advice:
                #"answer {"generation": …, "sequence": …, "samples": {"alive": 812, "deleted": 3}, …}; from it healthbus can see that something was lost"#
        )
    }

    func listsVersions() throws {
        guard let first else { return }
        let rows = try versions(.samples)
        let isThere = rows?.rows.contains { $0.id == first.id.description && $0.version == first.version } ?? false
        guard !isThere || rows?.isInOrder != true else { return }
        throw BackendFault(
            asked: "GET /api/v1/versions", expected: "ids in order, each with its version, and whether it is deleted",
            seen: rows == nil
                ? "no such answer"
                : isThere ? "ids that aren't in byte order" : "a list without the first sample",
            advice: "answer as docs/backend.md shows under Versions; without it 'healthbus verify' can't compare")
    }

    func listsChanges() throws {
        let (id, other) = (SampleID.random(), SampleID.random())
        try takes(.samples, [data.sample(id), data.sample(other)], "two samples")
        var cursor: String?
        let all = try changes(since: &cursor)
        let deletion = BackendTestData.deletion(id.description, data.nextVersion())
        try accepts(try send(.samples, ["deleted": [deletion]]), "the deletion of one")
        let later = try changes(since: &cursor)
        guard all?[id.description] != false || all?[other.description] != false || later != [id.description: true]
        else {
            return
        }
        throw BackendFault(
            asked: "GET /api/v1/changes after two samples, and with its 'next' after the deletion of one",
            expected: "both samples, and then only the deletion",
            seen: all == nil || later == nil
                ? "no such answer" : "\(all?.count ?? 0) elements, and then \(later?.count ?? 0)",
            advice: "answer as docs/backend.md shows under Changes; without it a program must read everything again")
    }

    /// Follows the pages to the end.
    /// - Returns: whether each element in them is deleted, by id; nil if something else answers.
    private func changes(since cursor: inout String?) throws(HTTPError) -> [String: Bool]? {
        var found: [String: Bool] = [:]
        while true {
            var query = ["user": data.user]
            query["cursor"] = cursor
            let answer = try connection.get("changes", query)
            // A cursor that doesn't move would be followed forever.
            guard answer.status == 200, let page = Value(strictJSON: answer.body), let changes = page["changes"].array,
                let next = page["next"].string as String?, let hasMore = page["hasMore"].bool as Bool?,
                !hasMore || next != cursor
            else { return nil }
            for change in changes { found[change["id"].string ?? ""] = change["deleted"].bool }
            cursor = next
            if !hasMore { return found }
        }
    }
}
