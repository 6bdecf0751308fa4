/// One fault has many traces: a backend that hangs stops delivery, its comparison, and in the end raises alerts. A person is told of the fault, and below it of what
/// follows. Pure.
extension [Finding] {
    /// With what follows from another one of these below that one.
    func folded() -> [Finding] {
        func cause(of finding: Finding, among others: [Finding]) -> Int? {
            for name in finding.causes where name != finding.subject || !finding.isCause {
                if let index = others.firstIndex(where: { $0.isCause && $0.subject == name }) { return index }
            }
            return nil
        }
        // What follows from something is no cause of its own.
        var roots = filter { cause(of: $0, among: self) == nil }
        for finding in self where cause(of: finding, among: self) != nil {
            guard let root = cause(of: finding, among: roots) else {
                // Its cause follows from something that isn't its own.
                roots.append(finding)
                continue
            }
            roots[root].consequences.append("\(finding.subject): \(finding.what)")
        }
        return roots
    }
}

extension Finding {
    /// What to do about a process that hangs.
    package static func restart(_ name: String) -> String {
        // It starts the others, and can't be run by itself.
        if name == "supervisor" {
            return "end its process with SIGKILL, which ends all of the stack, and start it again with 'healthbus up'"
        }
        return "start it again: 'healthbus run \(name) --takeover' ends the one that hangs"
    }
}
