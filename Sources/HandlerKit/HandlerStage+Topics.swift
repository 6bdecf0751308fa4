import Changelog
import HealthModel
import Protocol
import SQLite
import StageKit

extension HandlerStage {
    /// Rows of an earlier release have the name of the plugin that made them in their topics. They get the instance's,
    /// without a new sequence, so nothing is delivered again. Tombstones keep theirs, which may say where they belong.
    func adoptRows(_ turn: Turn) throws {
        let database = try turn.write().database
        let (figures, events) = ("figures.\(instance)", "events.\(instance)")
        let conditions = ConditionBody.topicPrefix + instance
        var adopted: [(sequence: Int64, topic: String)] = []
        let find = try database.prepare(
            "SELECT seq, topic, body FROM changes WHERE body IS NOT NULL AND topic NOT IN (?, ?, ?)")
        try find.with(figures, events, conditions).forEachRow { row in
            let topic = row.string(1)
            var own = topic
            if topic.hasPrefix("figures.") { own = figures }
            if topic.hasPrefix(ConditionBody.topicPrefix) { own = conditions }
            if topic.hasPrefix("events."), let event = try CBORDecoder.decode(row.bytes(2)).read(EventBody.self) {
                own = ChangedRow.topic(ofEvent: event.kind, instance: instance)
            }
            if own != topic { adopted.append((row.int64(0), own)) }
        }
        let rename = try database.prepare("UPDATE changes SET topic = ? WHERE seq = ?")
        for (sequence, topic) in adopted { try rename.with(topic, sequence).run() }
    }

    /// An event that has the id of another kind of event, which another plugin made, gets a key of its own, so that the
    /// other one is deleted where it was delivered.
    /// - Parameter before: the day's events so far.
    static func key(of event: DayEvent, _ user: String, _ before: [ChangedRow]) -> String {
        let key = "event/\(user)/\(event.id)"
        let own = "event/\(user)/\(event.kind)/\(event.id)"
        let isOther = before.contains { row in
            row.key == own || row.key == key && row.body?.read(EventBody.self)?.kind != event.kind
        }
        return isOther ? own : key
    }
}
