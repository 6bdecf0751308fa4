import BackgroundDelivery
import Changelog
import HealthModel
import MessageBus
import Protocol
import SQLite

/// Answers one pull at a time: validates its anchor, then lets the source read. It uses no thread and no socket.
package struct PullService {
    let instance: String
    let log: StageLog
    /// Called when a consumer that keeps its anchor presents one that this generation never reached. The writer then
    /// begins a new generation.
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

    /// Sends the parts of the answer, all from one read transaction; anything that isn't a request is dropped.
    /// - Throws: an error if the database can't be read.
    package func serve(_ request: Value, _ database: Database, _ source: any PullSource) throws {
        guard let asked = request.read(PullHeader.self) else { return }
        let topic = PageHeader.topic(asked.consumer)
        let place = request.read(PullPlace.self) ?? PullPlace()
        try database.readTransaction {
            let (head, generations) = try StageDatabase.readHead(in: database)
            let answer = PageHeader(asked, producer: instance, head: head)
            switch StageDatabase.judge(
                head: head, generations: generations, store: place.store, generation: place.generation,
                sequence: place.after?.maximum ?? .beginning)
            {
            case .good: break
            case let verdict:
                log(.anchorRefused, ["consumer": asked.consumer, "verdict": "\(verdict)"])
                // A tool keeps no anchor of its own: the one it presents may come from anyone, and proves nothing.
                if verdict == .lostRows, !BusName.isTool(asked.consumer) { lostRows(head.generation) }
                send(topic, answer.body(error: PageHeader.reset))
                return
            }
            var part: Int64 = 0
            do {
                let question = try Question(members: request)
                try source.answer(question, for: asked.consumer, head: head) { content, isLast in
                    send(topic, answer.body(content, part: part, isLast: isLast))
                    part += 1
                }
            } catch let refusal as PullRefusal {
                send(topic, answer.body(error: PageHeader.refused, reason: refusal.reason))
            } catch let error as DeliveryError {
                // The protocol knows no other codes.
                let isLocked = error.code == .databaseInaccessible
                send(
                    topic,
                    answer.body(error: isLocked ? error.code.rawValue : PageHeader.refused, reason: error.remedy))
            }
        }
    }
}
