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

    /// How long until a part is sent again, until that part is given up, and until the whole request is given up.
    private let repeatAfter: Duration
    private let patience: Duration
    private let longest: Duration

    /// - Parameters:
    ///   - patience: the time allowed for one part. A request with many parts continues while they are being answered.
    ///   - longest: the time allowed for all parts; shorter than a proxy's timeout.
    ///   - say: sends a part to the observer; the part may be lost.
    package init(
        repeatAfter: Duration = .milliseconds(500), patience: Duration = .seconds(15),
        longest: Duration = .seconds(120), say: @escaping @Sendable (IngestPart) -> Void
    ) {
        (self.repeatAfter, self.patience, self.longest, self.say) = (repeatAfter, patience, longest, say)
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
        let deadline = MonotonicClock.now + longest
        while true {
            let id = Self.nonce()
            let parts = make(id)
            var receipts: [IngestReceipt] = []
            for part in parts {
                let receipt = try submit(part, by: min(deadline, MonotonicClock.now + patience))
                if receipt.beginAgain == true { break }
                if let reason = receipt.refused { throw .refused(reason) }
                receipts.append(receipt)
            }
            if receipts.count == parts.count { return receipts }
            guard MonotonicClock.now < deadline else { throw .silent }
        }
    }

    private func submit(_ part: IngestPart, by deadline: MonotonicTime) throws(Failure) -> IngestReceipt {
        let key = part.id
        let arrived = waiting.withLock { waiting in
            let entry = Waiting(number: part.number)
            waiting[key] = entry
            return entry.arrived
        }
        defer { waiting.withLock { $0[key] = nil } }
        while MonotonicClock.now < deadline {
            say(part)
            _ = arrived.wait(timeout: .now() + min(repeatAfter, deadline - MonotonicClock.now).seconds)
            let receipt = waiting.withLock { $0[key]?.receipt }
            if let receipt { return receipt }
        }
        throw .silent
    }

    private static func nonce() -> String { String(UInt64.random(in: .min ... .max), radix: 36) }
}
