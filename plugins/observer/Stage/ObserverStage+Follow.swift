import HealthModel
import HealthStore
import ObserverReading
import Protocol
import SQLite
import StageKit

/// Another stack's changes (docs/sync.md). Rows, zones and the cursor are stored in one transaction: after a crash
/// before it, the page is taken again; after a later crash, it isn't requested any more.
extension ObserverStage {
    func take(
        _ following: IngestPart.Following, in part: IngestPart, from sender: String, _ turn: Turn
    ) throws -> IngestReceipt {
        var receipt = IngestReceipt(id: part.id, part: part.number)
        // An ingest faces the network. Unless a person wants it to follow, it may only add what is new.
        guard follows.contains(sender) else {
            receipt.refused = "this stack isn't configured to follow another; set 'followUrl'"
            return receipt
        }
        if let answers = following.answers { try note(answers, sender, turn) }
        if let cursor = following.cursor {
            // Checked before anything is written: an error later on would end the process, and the page would come
            // again.
            do { try part.followed.checkFollowed() } catch {
                receipt.refused = "\(error); update the other stack"
                return receipt
            }
            do {
                try take(following, of: part.user, turn)
            } catch let error as ZoneError {
                receipt.refused = "\(error); update this machine's time zones (tzdata)"
                return receipt
            }
            _ = try turn.write()
            if following.begins { try FollowedTable.begin(sender, turn) }
            let counts = try writer(for: part.user, turn).follow(
                part.followed, source: part.way, plausibility: Self.plausibility(at: turn.now))
            quarantined += Int64(counts.quarantined)
            for uuid in counts.revised { try raiseVersion(of: uuid, user: part.user, turn) }
            if counts.refused > 0 {
                turn.log(
                    .followRefused,
                    ["samples": counts.refused, "quarantined": max(0, counts.quarantined)])
            }
            try refreshHeads()
            // After a crash, the parts before the last one are taken again, which changes nothing.
            if !cursor.isEmpty {
                try FollowedTable.save(cursor, isEnd: following.isEnd, of: sender, turn)
            }
        }
        receipt.cursor = try FollowedTable.cursor(of: sender, in: turn.database)
        if try FollowedTable.isCopying(sender, in: turn.database) { receipt.copying = true }
        return receipt
    }

    /// If nothing has come for this long, an alert is raised.
    static let followAlertAfter = Duration.seconds(15 * 60)
    /// The subject of that alert; the instance that can't follow comes after it.
    private static let alertSubject = "following "

    /// An ingest that can't reach the other stack says so each time that it tries, at least once a minute.
    private func note(_ answers: Bool, _ sender: String, _ turn: Turn) throws {
        let subject = Self.alertSubject + sender
        guard !answers else {
            unanswered[sender] = nil
            try turn.clear(.degraded, subject: subject)
            return
        }
        let since = unanswered[sender] ?? turn.monotonic
        unanswered[sender] = since
        guard turn.monotonic - since >= Self.followAlertAfter else { return }
        try turn.raise(
            Alert(
                .degraded, subject: subject,
                text: "Nothing has come for a while from the stack that this one follows.",
                remedy: "Look at 'healthbus doctor': it says why, and what to do."))
    }

    /// An instance that no longer follows has nothing left to report.
    func forgetAlerts(_ turn: Turn) throws {
        for (subject, _) in try turn.alerts(.degraded) where subject.hasPrefix(Self.alertSubject) {
            guard !follows.contains(String(subject.dropFirst(Self.alertSubject.count))) else { continue }
            try turn.clear(.degraded, subject: subject)
        }
    }

    /// Whether a stack that this one follows hasn't been copied to its end. Until then a day may have some of its types
    /// and lack others, as while a file is being read. What the other stack gets later is news, as is a push.
    func isCopying(in database: Database) throws -> Bool {
        try follows.contains { try FollowedTable.isCopying($0, in: database) }
    }

    /// Zones first: a sample whose day isn't known would be computed twice.
    private func take(_ following: IngestPart.Following, of user: String, _ turn: Turn) throws {
        if let timeline = try ZoneTimeline(wireValue: following.zones) {
            try zones.follow(timeline, user: user, turn)
        }
        try zones.ensure(user: user, zone: zone, turn)
        try CharacteristicsTable.follow(following.characteristics, user: user, turn)
    }
}
