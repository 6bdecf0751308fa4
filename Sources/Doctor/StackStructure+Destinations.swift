import Configuration
import DeliveryKit
import HTTP
import HealthModel
import HealthResources

/// What destinations are to get, and how, as their options say.
extension StackStructure {
    /// Servers elsewhere that would get data in a form that anyone on the way can read, and weren't allowed to. A value
    /// that isn't a URL is reported when the instance starts.
    var unreadable: [Finding] {
        stack.instances.compactMap { instance in
            guard instance.manifest.destination?.kind == .server, instance.manifest.declares("plainHTTP"),
                let server = instance.address, let isReadable = try? HTTPClient.isReadableOnTheWay(server),
                isReadable, instance.configuration["plainHTTP"].bool != true
            else { return nil }
            return Finding(
                .error, stack.file, key: instance.addressKey,
                "would send the token and health data in the clear to another machine",
                remedy: "use https://, or set 'plainHTTP' to true in a network that you trust")
        }
    }

    /// Who each user is at the destinations that have names of their own for people.
    var people: [Finding] {
        stack.instances.compactMap { instance in
            guard let declared = instance.manifest.destination, let option = declared.people else { return nil }
            let key = "instances.\(instance.name).configuration.\(option)"
            let names = PatientNames(instance.configuration[option])
            if let problem = names.problem {
                return Finding(
                    .error, stack.file, key: key, problem, remedy: "otherwise each overwrites what the other has there")
            }
            guard declared.kind == .server, names.isEmpty, let server = instance.address,
                let isLocal = try? HTTPClient.isLoopback(server), !isLocal
            else { return nil }
            return Finding(
                .warning, stack.file, key: key,
                "is empty: a second stack with a user of the same name would overwrite this one's data",
                remedy: "name each user as the server does: \"\(option)\": { \"me\": \"system|value\" }")
        }
    }

    /// What would keep a destination from starting, and types that this release doesn't know: misspelt, or newer.
    var choices: [Finding] {
        stack.instances.filter { $0.manifest.destination != nil }.flatMap { instance -> [Finding] in
            let types = (instance.configuration["types"].array ?? []).compactMap(\.string)
            // For files only types can be chosen.
            let isFiles = instance.manifest.destination?.keeps == .files
            let unknown = types.enumerated().filter {
                (isFiles || $1.hasPrefix("HK")) && HealthType.known($1) == nil
            }.map { index, type in
                Finding(
                    .warning, stack.file, key: "instances.\(instance.name).configuration.types[\(index)]",
                    "isn't a type this release knows, so most likely nothing is delivered for it",
                    remedy: HealthType.nearest(to: type).map { "did you mean \($0)?" }
                        ?? "write HealthKit's identifier, as in HKQuantityTypeIdentifierStepCount")
            }
            guard !isFiles else { return unknown }
            var mistakes = DeliveryChoice.mistakes(of: instance, in: stack)
            do throws(ConfigurationError) { _ = try DeliveryStage.deliverSince(of: instance, in: stack) } catch {
                mistakes.append(error)
            }
            return mistakes.map { Finding($0) } + unknown
        }
    }
}
