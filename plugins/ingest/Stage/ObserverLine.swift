import Clocks
import Dispatch
import HealthModel
import Protocol
import Synchronization

/// The connection to the observer: sends a request's parts, one after the other, and waits for the outcome of each. A
/// message may get lost, so a part is sent again until it is answered; the observer remembers what it has answered.
///
/// Keeps nothing: it is up to the sender to send anything unanswered again.
package final class ObserverLine: Sendable {
    /// Why a request couldn't be handed over.
    package enum Failure: Error, Equatable {
        /// The observer doesn't answer. It will recognize anything it did accept when the request comes again.
        case silent
        /// It accepts nothing at present.
        case refused(String)
    }

    private struct Waiting {
        /// The part's number. An answer to a different part, which was sent twice, is ignored.
        let number: Int64
        var receipt: IngestReceipt?
        let arrived = DispatchSemaphore(value: 0)
    }

    private let say: @Sendable (IngestPart) -> Void
    /// By request.
    private let waiting = Mutex<[String: Waiting]>([:])

    private let pace: RequestHandover.Pace

    /// - Parameter say: sends a part to the observer; the part may be lost.
    package init(_ pace: RequestHandover.Pace = .init(), say: @escaping @Sendable (IngestPart) -> Void) {
        (self.pace, self.say) = (pace, say)
    }

    /// Accepts the observer's message. Any thread may call it.
    package func hear(_ receipt: IngestReceipt) {
        waiting.withLock { waiting in
            guard let entry = waiting[receipt.id], entry.number == receipt.part, entry.receipt == nil else { return }
            waiting[receipt.id]?.receipt = receipt
            entry.arrived.signal()
        }
    }

    /// Hands a request's parts over, and waits.
    /// - Parameter make: makes the parts, under the given id.
    /// - Returns: the receipts, in the parts' order; everything is then durable.
    func submit(_ make: (_ id: String) -> [IngestPart]) throws(Failure) -> [IngestReceipt] {
        var handover = RequestHandover(pace, at: MonotonicClock.now)
        var id = ""
        defer { waiting.withLock { $0[id] = nil } }
        while true {
            switch handover.step(at: MonotonicClock.now) {
            case .begin:
                waiting.withLock { $0[id] = nil }
                id = Self.nonce()
                handover.begin(make(id), at: MonotonicClock.now)
            case .send(let part, let time):
                if let receipt = receipt(for: part, within: time) { handover.take(receipt, at: MonotonicClock.now) }
            case .done(let receipts): return receipts
            case .failed(let failure): throw failure
            }
        }
    }

    /// Sends a part, and waits. A receipt that comes too late counts when the part is sent again.
    private func receipt(for part: IngestPart, within time: Duration) -> IngestReceipt? {
        let key = part.id
        let arrived = waiting.withLock { waiting in
            if let entry = waiting[key], entry.number == part.number { return entry.arrived }
            let entry = Waiting(number: part.number)
            waiting[key] = entry
            return entry.arrived
        }
        say(part)
        _ = arrived.wait(timeout: .now() + time.seconds)
        return waiting.withLock { $0[key]?.receipt }
    }

    private static func nonce() -> String { String(UInt64.random(in: .min ... .max), radix: 36) }
}
