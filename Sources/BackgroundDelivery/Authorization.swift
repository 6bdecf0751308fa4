/// Whether a consumer may read a type. A denied read looks as if there were no data, so nobody downstream can
/// distinguish the two .
package enum AuthorizationStatus: String, Codable, Sendable, CaseIterable {
    case notDetermined
    /// Everything that a consumer can learn about a type, whether or not it may read that type.
    case requested
    case denied
}

/// Why a registration, a task or a read fails, with the names from HealthKit and BackgroundTasks.
package struct DeliveryError: Error, Equatable, Sendable, CustomStringConvertible {
    package enum Code: String, Sendable {
        /// The manifest lacks an entitlement or a background mode, or the configuration lacks the instance.
        case authorizationDenied
        /// The device is locked: the health data can't be read.
        case databaseInaccessible
        /// A task's identifier isn't in the manifest's `permittedTasks`, or its background mode is missing.
        case notPermitted
        /// An identifier is registered twice, or submitted without having been registered.
        case alreadyRegistered, notRegistered
        /// At most one app-refresh and ten processing requests may be pending.
        case tooManyPendingTaskRequests
        /// A continued task with the strategy `fail` can't begin at once.
        case immediateRunIneligible
        /// Something requested doesn't exist, such as a frequency or a type.
        case invalidArgument
    }

    package var code: Code
    /// The consumer, type or task that the error concerns.
    package var subject: String
    /// What the reader should do now.
    package var remedy: String

    package init(_ code: Code, _ subject: String, remedy: String) {
        (self.code, self.subject, self.remedy) = (code, subject, remedy)
    }

    package var description: String { "\(subject): \(code.rawValue); \(remedy)" }
}
