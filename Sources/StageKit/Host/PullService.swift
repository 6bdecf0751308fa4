import BackgroundDelivery
import Changelog
import HealthModel
import Protocol
import SQLite

/// Answers one pull at a time: judges the anchor it comes with, then has the source read. Knows no thread and no socket.
package struct PullService {
    let instance: String
    let log: StageLog
    /// Called when a consumer shows an anchor that this generation never reached: the writer begins a new one.
    let lostRows: (_ generation: String) -> Void
    let send: (_ topic: String, _ body: Value) -> Void

    package init(
        instance: String, log: StageLog, lostRows: @escaping (_ generation: String) -> Void,
        send: @escaping (String, Value) -> Void
    ) {
        self.instance = instance
        self.log = log
        self.lostRows = lostRows
        self.send = send
    }

    /// Sends the answer's parts, all from one read transaction; a request that isn't one is dropped.
    /// - Throws: what the database can't read.
    package func serve(_ request: Value, _ database: Database, _ source: any PullSource) throws {
        guard let id = request["id"].int, let consumer = request["consumer"].string else { return }
        let topic = "page.\(consumer)"
        var answer: [String: Value] = [
            "id": .integer(id), "attempt": request["attempt"], "producer": .string(instance),
        ]
        try database.readTransaction {
            let (head, generations) = try StageDatabase.readHead(in: database)
            answer["head"] = Value(head)
            let after = request["after"].read(AnchorVector.self)
            switch StageDatabase.judge(
                head: head, generations: generations, store: request["store"].string,
                generation: request["generation"].string, sequence: after?.maximum ?? 0)
            {
            case .good: break
            case let verdict:
                log(.anchorRefused, ["consumer": consumer, "verdict": "\(verdict)"])
                if verdict == .lostRows { lostRows(head.generation) }
                answer["error"] = "reset"
                send(topic, .object(answer))
                return
            }
            var part: Int64 = 0
            do {
                try source.answer(request, head: head) { members, last in
                    var body = answer
                    body.merge(members) { _, new in new }
                    body["part"] = .integer(part)
                    body["last"] = .bool(last)
                    part += 1
                    send(topic, .object(body))
                }
            } catch let refusal as PullRefusal {
                answer["error"] = "refused"
                answer["reason"] = .string(refusal.reason)
                send(topic, .object(answer))
            } catch let error as DeliveryError {
                answer["error"] = .string(error.code.rawValue)
                answer["reason"] = .string(error.remedy)
                send(topic, .object(answer))
            }
        }
    }
}
