/// One fault has many symptoms: a backend that hangs stops delivery and comparison, and finally raises alerts. A person
/// sees the fault, with its consequences below it. Pure.
extension [Finding] {
    /// Places the consequences of a finding below it.
    func folded() -> [Finding] {
        func cause(of finding: Finding, among others: [Finding]) -> Int? {
            for name in finding.causes where name != finding.subject || !finding.isCause {
                if let index = others.firstIndex(where: { $0.isCause && $0.subject == name }) { return index }
            }
            return nil
        }
        // A consequence isn't itself counted as a cause.
        var roots = filter { cause(of: $0, among: self) == nil }
        for finding in self where cause(of: finding, among: self) != nil {
            guard let root = cause(of: finding, among: roots) else {
                // The cause is itself a consequence of something that isn't among this finding's causes.
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
    /// - Parameter isSupervised: whether a supervisor answers; if so, it restarts the process. Otherwise, or if the hub
    ///   that would carry the request hangs too, a person has to restart the process by hand.
    package static func restart(_ name: String, isSupervised: Bool) -> String {
        // The supervisor starts the other processes, and can't be run on its own.
        if name == "supervisor" {
            return "end its process with SIGKILL, which ends the whole stack, and start it again with 'healthbus up'"
        }
        if isSupervised { return "restart it: 'healthbus stop \(name)', then 'healthbus start \(name)'" }
        return "restart it: 'healthbus run \(name) --takeover' ends the one that hangs"
    }
}
