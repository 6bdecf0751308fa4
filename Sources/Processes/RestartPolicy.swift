import HealthModel

/// Whether and when a process that ended is restarted.
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
        (self.mode, self.base, self.longest, self.healthyAfter) = (mode, base, longest, healthyAfter)
        self.giveUpAfter = giveUpAfter
    }

    /// The longest delay after this many consecutive failures (1 or more).
    package func ceiling(failures: Int) -> Duration {
        BackOff(base, upTo: longest, failures: failures - 1).wait
    }

    /// The delay before the next start after this many consecutive failures (1 or more): full jitter.
    package func delay(failures: Int, using generator: inout some RandomNumberGenerator) -> Duration {
        ceiling(failures: failures) * BackOff<Duration>.jitter(using: &generator)
    }
}
