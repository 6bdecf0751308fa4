import Protocol
import Terminal

/// What an instance takes in: from the bus, from others, from files.
extension HeardInstance {
    var malformedMessages: Finding? {
        guard let malformed = beat.stage.messages?.malformed, malformed > 0 else { return nil }
        return note(
            malformed == 1
                ? "something arrived on the bus that isn't a message"
                : "\(malformed) things arrived on the bus that aren't messages",
            remedy: "find out who else writes to the bus: 'healthbus tap'")
    }

    var foreignMessages: Finding? {
        guard let foreign = beat.stage.messages?.foreign, foreign > 0 else { return nil }
        return warning(
            "\(HumanFormat.count(foreign, "message")) came from a sender with no right to send that; dropped",
            remedy: "the log says who it is: 'healthbus logs \(name)'; on a sealed bus give it another key")
    }

    var refusedRequests: [Finding] {
        beat.stage.refusals.sorted { $0.key < $1.key }.map { place, why in
            error(
                "\(place.split(separator: "/").first ?? "") doesn't answer its requests: \(why)",
                remedy: "run both from the same release")
        }
    }

    var following: Finding? {
        guard let following = beat.ingest?.following, let problem = following.problem else { return nil }
        return Finding(
            problem.isRefusal ? .error : .warning, name,
            "can't follow \(following.address) at present: \(problem.what)", remedy: problem.remedy)
    }

    var inbox: Finding? {
        guard let inbox = beat.observer?.inbox, let problem = inbox.problem else { return nil }
        return error(
            "takes no files from its inbox folder \(inbox.path)", remedy: problem + "; then it continues automatically")
    }

    var refusedInBackground: [Finding] {
        (beat.observer?.refused ?? [:]).sorted { $0.key < $1.key }.map { consumer, why in
            Finding(.error, consumer, "may not be woken in the background", remedy: why)
        }
    }

    /// What the survey after an upgrade has found.
    var doubles: Finding? {
        guard let count = beat.observer?.doubles, count > 0 else { return nil }
        let (verb, them, their) = count == 1 ? ("is", "it", "its") : ("are", "them", "their")
        return warning(
            "\(HumanFormat.count(Int(count), "sample")) \(verb) stored twice: HealthKit condensed \(them), "
                + "or \(their) source was renamed, and an earlier release didn't recognize that",
            remedy: "run 'healthbus doubles list' to see \(them), 'healthbus doubles repair' to count \(them) once")
    }
}
