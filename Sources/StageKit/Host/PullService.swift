import BackgroundDelivery
import Changelog
import HealthModel
import MessageBus
import Protocol
import SQLite

/// What a consumer's request shows its producer's writer.
package enum PullNotice: Sendable {
    /// A consumer that keeps its anchor has presented one that this generation never reached: it has to begin another.
    case lostRows(generation: String)
    /// A destination holds newer versions of rows than this generation gave out.
    case renew(Renewal, generation: String)
}

/// Answers one pull at a time: validates its anchor, then lets the source read. It uses no thread and no socket.
package struct PullService {
    let instance: String
    let log: StageLog
    /// Called with what the writer has to do.
    let notice: (PullNotice) -> Void
    let send: (_ topic: String, _ body: Value) -> Void

    package init(
        instance: String, log: StageLog, notice: @escaping (PullNotice) -> Void,
        send: @escaping (String, Value) -> Void
    ) {
        (self.instance, self.log, self.notice, self.send) = (instance, log, notice, send)
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
            switch try StageDatabase.judge(place, head: head, generations: generations, in: database) {
            case .good: break
            case let verdict:
                log(.anchorRefused, ["consumer": asked.consumer, "verdict": "\(verdict)"])
                // A tool keeps no anchor of its own: the one it presents may come from anyone, and proves nothing.
                if verdict == .lostRows, !BusName.isTool(asked.consumer) {
                    notice(.lostRows(generation: head.generation))
                }
                send(topic, answer.body(error: PageHeader.reset))
                return
            }
            var part: Int64 = 0
            do {
                let question = try Question(members: request, among: source.queries + [Renewal.self])
                if let renewal = question.query as? Renewal {
                    guard place.generation == head.generation, !BusName.isTool(asked.consumer), renewal.isPossible
                    else { throw PullRefusal("a consumer's 'renew' needs 'generation', and versions that exist") }
                    notice(.renew(renewal, generation: head.generation))
                    send(topic, answer.body(EmptyPage(), part: 0, isLast: true))
                    return
                }
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
