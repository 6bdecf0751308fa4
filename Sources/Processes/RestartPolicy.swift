/// Whether and when a process that ended is restarted.
///
/// The delay is exponential back-off with full jitter: uniform between 0 and min(`longest`, `base` · 2^(failures − 1)),
/// so that processes that failed together don't restart together (Brooker, "Exponential Backoff And Jitter", AWS,
/// 2015).
package struct RestartPolicy: Sendable, Equatable {
    package enum Mode: String, Sendable, Codable {
        /// Restarts the process, whatever its exit status.
        case always
        /// Stays down, as `stopped`, after exit code 0.
        case onFailure = "on-failure"
        /// Stays down: `stopped` after exit code 0, otherwise `failed`.
        case never

        /// Whether a process that ended like this stays down.
        package func staysDown(afterSuccess isSuccess: Bool) -> Bool {
            switch self {
            case .always: false
            case .onFailure: isSuccess
            case .never: true
            }
        }
    }

    package var mode: Mode
    package var base: Duration
    package var longest: Duration
    /// A process that was ready for this long has recovered: its next failure counts as the first.
    package var healthyAfter: Duration
    /// The number of consecutive failures after which it stays down; with nil, it never gives up.
    package var giveUpAfter: Int?

    package init(
        _ mode: Mode = .always, base: Duration = .milliseconds(100), longest: Duration = .seconds(30),
        healthyAfter: Duration = .seconds(10), giveUpAfter: Int? = nil
    ) {
        self.mode = mode
        self.base = base
        self.longest = longest
        self.healthyAfter = healthyAfter
        self.giveUpAfter = giveUpAfter
    }

    /// The longest delay after this many consecutive failures (1 or more).
    package func ceiling(failures: Int) -> Duration {
        var delay = base
        var doublings = max(0, failures - 1)
        while doublings > 0, delay < longest {
            delay = delay * 2
            doublings -= 1
        }
        return min(delay, longest)
    }

    /// The delay before the next start after this many consecutive failures (1 or more).
    package func delay(failures: Int, using generator: inout some RandomNumberGenerator) -> Duration {
        ceiling(failures: failures) * Double.random(in: 0..<1, using: &generator)
    }
}
