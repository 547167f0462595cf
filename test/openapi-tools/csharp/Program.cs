Console.WriteLine(await Consumers.NewtonsoftJson.Consumer.Run(args[0], args[1]));
Console.WriteLine(await Consumers.SystemTextJson.Consumer.Run(args[0], args[1]));
