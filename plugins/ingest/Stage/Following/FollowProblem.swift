import HTTP

/// Why another stack can't be followed at the moment, and what to do.
package struct FollowProblem: Error, CustomStringConvertible {
    package let what: String
    package let remedy: String
    /// Whether asking again is useless until a person does something.
    package let isRefusal: Bool
    /// Whether it is this stack's observer that doesn't answer.
    private(set) var isSilence = false

    package init(
        _ what: String, remedy: String = "nothing: it is asked again", isRefusal: Bool = false
    ) {
        (self.what, self.remedy, self.isRefusal) = (what, remedy, isRefusal)
    }

    init(_ error: any Error) {
        switch error {
        case let error as FollowProblem: self = error
        case let error as HTTPError:
            self.init("\(error.endpoint): \(error.detail)", remedy: error.hint, isRefusal: !error.isTransient)
        case ObserverLine.Failure.silent:
            self.init("this stack's observer doesn't answer")
            isSilence = true
        case ObserverLine.Failure.refused(let reason):
            self.init("this stack's observer refuses the changes: \(reason)", remedy: "see to that", isRefusal: true)
        default:
            self.init(
                "the answer can't be read: \(error)", remedy: "run both stacks from the same release",
                isRefusal: true)
        }
    }

    package var description: String { "\(what); \(remedy)" }
}
