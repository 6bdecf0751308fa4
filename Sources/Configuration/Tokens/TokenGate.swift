import HealthModel
import Synchronization

/// Decides whom a server lets in. It holds the list of tokens, and reads it again when the file has changed, so that a
/// new or revoked token takes effect within a second, without a restart.
package final class TokenGate: Sendable {
    private let file: Watched<TokenList>
    private let pause: Duration
    private let uses: TokenUses?
    private let held = Mutex<(list: TokenList, looked: MonotonicTime)?>(nil)

    /// - Parameters:
    ///   - pause: the minimum time between checks for changes to the file, no matter how many requests with known tokens
    ///     arrive; unknown tokens may cause a check every 10 ms.
    ///   - uses: where to note who was let in, and whose token is over.
    package init(_ file: TokenFile, lookingEvery pause: Duration = .milliseconds(250), noting uses: TokenUses? = nil) {
        self.file = Watched([file.path]) { try file.read() }
        (self.pause, self.uses) = (pause, uses)
    }

    /// - Parameters:
    ///   - presented: the text after "Bearer "; nil if there is none.
    ///   - now: the time that decides whether tokens have expired.
    ///   - moment: the time that decides whether the file is due to be checked again.
    /// - Throws: `Failure` when the file can't be read or understood: then nobody may be let in, and a person must be
    ///   alerted.
    package func answer(
        to presented: String?, now: Instant, at moment: MonotonicTime
    ) throws -> TokenAnswer {
        guard let secret = presented.flatMap({ TokenSecret($0) }) else { return .unknown }
        guard let entry = try entry(at: moment, { $0.entry(of: secret) }) else { return .unknown }
        let (answer, isValid) = (entry.answer(at: now), entry.state(at: now) == .valid)
        // An access token that has ended says nothing: the app gets the next one within a second.
        if !isValid || answer != .ended { uses?.note(entry.id, isGranted: isValid, at: now) }
        return answer
    }

    /// The same for a phone that signs its requests.
    /// - Parameters:
    ///   - id: what the request says about who sends it.
    ///   - signed: the signature and what it is of; nil before the body is there, when the phone's word counts.
    package func answer(
        toSigner id: String, _ signed: (body: [UInt8], signature: BodySignature?)?, now: Instant,
        at moment: MonotonicTime
    ) throws -> TokenAnswer {
        guard let entry = try entry(at: moment, { $0.signer(id) }), let key = entry.key else { return .unknown }
        if let signed {
            guard BodySignature(of: signed.body, key: key) == signed.signature else { return .unknown }
            uses?.note(entry.id, isGranted: entry.state(at: now) == .valid, at: now)
        }
        return entry.answer(at: now)
    }

    /// An unknown token may have been created just now, so the file is checked.
    private func entry(at moment: MonotonicTime, _ find: (TokenList) -> TokenEntry?) throws -> TokenEntry? {
        try find(list(at: moment, pause)) ?? find(list(at: moment, min(pause, Self.leastPause)))
    }

    /// Somebody who tries out tokens can't cause the file to be read more often than this.
    private static let leastPause = Duration.milliseconds(10)

    private func list(at moment: MonotonicTime, _ pause: Duration) throws -> TokenList {
        if let held = held.withLock({ $0 }), moment >= held.looked, moment - held.looked < pause { return held.list }
        let list = try file.current()
        held.withLock { $0 = (list, moment) }
        return list
    }
}
