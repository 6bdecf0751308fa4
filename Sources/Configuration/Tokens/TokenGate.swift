import HealthModel
import Synchronization

/// Says whom a server lets in: holds the list of tokens, and reads it again when the file has changed, so that a token that is made or taken back counts
/// within a second, without a restart.
package final class TokenGate: Sendable {
    private let file: Watched<TokenList>
    private let pause: Duration
    private let held = Mutex<(list: TokenList, looked: MonotonicTime)?>(nil)

    /// - Parameter pause: how long it isn't looked whether the file has changed, however many ask.
    package init(_ file: TokenFile, lookingEvery pause: Duration = .milliseconds(250)) {
        self.file = Watched([file.path]) { try file.read() }
        self.pause = pause
    }

    /// - Parameters:
    ///   - presented: what stands after "Bearer "; nil for nothing.
    ///   - now: by which tokens end.
    ///   - moment: by which it is looked again.
    /// - Throws: `Failure` when the file can't be read or understood: nobody is to be let in then, and a person told.
    package func answer(
        to presented: String?, now: Instant, at moment: MonotonicTime
    ) throws -> TokenAnswer {
        guard let secret = presented.flatMap({ TokenSecret($0) }) else { return .unknown }
        let answer = try list(at: moment, pause).answer(to: secret, at: now)
        // One that isn't known may have been made this moment.
        return answer == .unknown
            ? try list(at: moment, min(pause, Self.leastPause)).answer(to: secret, at: now) : answer
    }

    /// Nobody who tries tokens out has the file read more often.
    private static let leastPause = Duration.milliseconds(10)

    private func list(at moment: MonotonicTime, _ pause: Duration) throws -> TokenList {
        if let held = held.withLock({ $0 }), moment >= held.looked, moment - held.looked < pause { return held.list }
        let list = try file.current()
        held.withLock { $0 = (list, moment) }
        return list
    }
}
