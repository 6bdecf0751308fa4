import Protocol
import Terminal

extension Diagnosis {
    /// What the survey after an upgrade has found.
    func doubles(_ beat: Heartbeat, _ name: String) -> [Finding] {
        guard let count = beat.observer?.doubles, count > 0 else { return [] }
        let (verb, them, their) = count == 1 ? ("is", "it", "its") : ("are", "them", "their")
        return [
            Finding(
                .warning, name,
                "\(HumanFormat.count(Int(count), "sample")) \(verb) stored twice: HealthKit condensed \(them), "
                    + "or \(their) source was renamed, and an earlier release didn't recognize that",
                remedy: "run 'healthbus doubles list' to see \(them), 'healthbus doubles repair' to count \(them) once")
        ]
    }
}
