import HealthModel

/// What a server says in an `OperationOutcome`, whatever the status beside it. Pure.
struct FHIROutcome: Equatable {
    enum Verdict: Equatable {
        /// Only warnings and information.
        case fine
        /// An error: there is nothing to delete.
        case absent
        /// An error that FHIR calls transient: the same may be accepted later.
        case failing
        /// Any other error.
        case refusal
        /// No issue, or one of an unknown severity.
        case unreadable
    }

    let verdict: Verdict
    /// The kind of the issue that decides, a word from FHIR's own list, and the element that it is about, as in
    /// "invariant at Observation.component[2]"; nil if it has another form. The issue's texts may repeat health values.
    let issue: String?

    private static let errors: Set<String> = ["error", "fatal"]
    private static let notes: Set<String> = ["warning", "information", "success"]
    private static let absent: Set<String> = ["not-found", "deleted"]
    private static let transient: Set<String> = [
        "transient", "lock-error", "no-store", "exception", "timeout", "incomplete", "throttled",
    ]

    /// - Parameter outcomes: those about one thing; nil if each is null.
    init?(_ outcomes: Value...) {
        let reported = outcomes.filter { !$0.isNull }.map { $0["issue"].array ?? [] }
        guard !reported.isEmpty else { return nil }
        let issues = reported.flatMap { $0 }
        let severities = issues.map { $0["severity"].string?.lowercased() ?? "" }
        let wrong = zip(issues, severities).filter { Self.errors.contains($1) }.map(\.0)
        let kinds = Set(wrong.map { $0["code"].string ?? "" })
        if wrong.isEmpty {
            let isReadable = reported.allSatisfy { !$0.isEmpty } && severities.allSatisfy(Self.notes.contains)
            verdict = isReadable ? .fine : .unreadable
        } else if kinds.isSubset(of: Self.absent) {
            verdict = .absent
        } else {
            verdict = kinds.isSubset(of: Self.transient) ? .failing : .refusal
        }
        issue = (wrong.first ?? issues.first).flatMap { Self.text($0) }
    }

    /// What an entry of an answer says about itself: some servers put the outcome in place of the resource.
    init?(entry: Value) {
        let resource = entry["resource"]
        self.init(entry["response"]["outcome"], resource["resourceType"] == "OperationOutcome" ? resource : .null)
    }

    /// What an answer as a whole says; nil unless it is an `OperationOutcome`.
    init?(answer: Value) {
        guard answer["resourceType"] == "OperationOutcome" else { return nil }
        self.init(answer)
    }

    /// ", invariant"; empty if nothing is known.
    var reported: String { issue.map { ", \($0)" } ?? "" }
    var isError: Bool { [.absent, .failing, .refusal].contains(verdict) }

    private static func text(_ issue: Value) -> String? {
        guard let kind = issue["code"].string, kind.wholeMatch(of: #/[a-z\-]{1,30}/#) != nil else { return nil }
        guard let place = issue["expression"].array?.first?.string, place.utf8.count <= 100,
            place.wholeMatch(of: #/(Bundle|Observation|Patient)(\.[a-z][A-Za-z]*(\[[0-9]{1,4}\])?)*/#) != nil
        else { return kind }
        return kind + " at " + place
    }
}
